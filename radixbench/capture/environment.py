"""The machine and software of a run, as far as they may change a number.

Packages are asked for their version without being imported. Environment variables are kept only from a
short list: those that change speed, never one that may hold a secret; keys on the command line are
struck out. What can't be found out is ``None``.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from radixbench import __version__
from radixbench.capture.model import Environment
from radixbench.units import Bytes

PACKAGES = (
    "accelerate",
    "aiohttp",
    "gguf",
    "numpy",
    "nvidia-ml-py",
    "orjson",
    "safetensors",
    "scipy",
    "sglang",
    "tokenizers",
    "torch",
    "transformers",
    "uvloop",
    "vllm",
)
VARIABLES = (
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_WAIT_POLICY",
    "OPENBLAS_NUM_THREADS",
    "TOKENIZERS_PARALLELISM",
)
VARIABLE_PREFIXES = ("MALLOC_", "PYTORCH_")
STRUCK_OUT = "***"

_SECRET_FLAG = re.compile(r"--?[\w-]*(api[-_]?key|token|password|secret|authorization)", re.IGNORECASE)
_PASSED_ON = "--server-argument"
_USERINFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def collect(argv: Sequence[str], *, gpus: Sequence[str] = (), driver: str | None = None) -> Environment:
    """The present machine; ``gpus`` (names) and ``driver`` come from whoever asked the cards."""
    return Environment(
        radixbench=__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        platform=platform.platform(),
        cpu=cpu_name(),
        cores=usable_cores(),
        memory_bytes=memory_bytes(),
        gpus=tuple(gpus),
        driver=driver,
        packages=package_versions(),
        variables=speed_variables(os.environ),
        host_id=host_id(),
        argv=without_secrets(argv),
    )


def package_versions(names: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def speed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Those variables of the short list that are set."""
    return {
        name: _printable(environ[name])
        for name in sorted(environ)
        if name in VARIABLES or name.startswith(VARIABLE_PREFIXES)
    }


def without_secrets(argv: Sequence[str]) -> tuple[str, ...]:
    """The command line with the values of key, token and password flags, and logins in URLs, struck out."""
    kept: list[str] = []
    hide_next = False
    for given in argv:
        if given == _PASSED_ON:  # what follows is a word of the server's command line
            kept.append(given)
            continue
        word = given.removeprefix(f"{_PASSED_ON}=")
        head = given[: len(given) - len(word)]
        flag, equals, _ = word.partition("=")
        secret = _SECRET_FLAG.fullmatch(flag) is not None
        if hide_next:
            kept.append(head + STRUCK_OUT)
        elif secret and equals:
            kept.append(f"{head}{flag}={STRUCK_OUT}")
        else:
            kept.append(head + _USERINFO.sub(STRUCK_OUT, _printable(word)))
        hide_next = secret and not equals and not hide_next
    return tuple(kept)


def cpu_name() -> str | None:
    """The processor's name as its maker writes it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or None
    match = re.search(r"^(?:model name|Hardware|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine() or None


def usable_cores() -> int | None:
    """Cores this process may run on, which under a container or ``taskset`` are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return psutil.cpu_count()


def memory_bytes() -> Bytes | None:
    """Physical memory, or the container's limit where that is less."""
    total: Bytes = psutil.virtual_memory().total
    limit = _cgroup_bytes("memory.max", "memory/memory.limit_in_bytes")
    return total if limit is None else min(total, limit)


def available_memory_bytes() -> Bytes:
    """Memory a new process can have without swapping, as the machine and the container see it at this moment."""
    available: Bytes = psutil.virtual_memory().available
    limit = _cgroup_bytes("memory.max", "memory/memory.limit_in_bytes")
    used = _cgroup_bytes("memory.current", "memory/memory.usage_in_bytes")
    return available if limit is None or used is None else max(0, min(available, limit - used))


def _cgroup_bytes(*names: str) -> Bytes | None:
    """A figure of this control group, by its name in version 2, then 1; ``None`` where there is no limit."""
    for name in names:
        try:
            text = Path("/sys/fs/cgroup", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        return int(text) if text.isdecimal() else None
    return None


def host_id() -> str | None:
    """A name for this machine that tells two machines apart and neither of them to anyone else.

    The first 16 hex digits of a hash over the machine id; without one, over the host name.
    """
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            identity = Path(path).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if identity:
            return _short_hash(identity)
    return _short_hash(platform.node()) if platform.node() else None


def _short_hash(identity: str) -> str:
    return hashlib.sha256(f"radixbench:{identity}".encode()).hexdigest()[:16]


def _printable(text: str) -> str:
    """Text of the system, bytes that aren't UTF-8 shown as escapes."""
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="backslashreplace")
