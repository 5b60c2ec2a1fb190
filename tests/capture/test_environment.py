"""The environment is found without heavy imports and without secrets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from radixbench import __version__
from radixbench.capture.environment import (
    STRUCK_OUT,
    available_memory_bytes,
    collect,
    host_id,
    memory_bytes,
    package_versions,
    speed_variables,
    without_secrets,
)


def test_this_machine_is_described() -> None:
    """What every Linux machine can tell is there; what was handed in is kept."""
    found = collect(["radixbench", "sweep"], gpus=["NVIDIA H200"], driver="580.65.06")
    assert found.radixbench == __version__
    assert found.python.startswith("CPython 3.")
    assert found.cpu
    assert found.cores is not None
    assert found.cores >= 1
    assert found.memory_bytes is not None
    assert found.memory_bytes > 2**28
    assert (found.gpus, found.driver) == (("NVIDIA H200",), "580.65.06")
    assert found.packages["numpy"].count(".") == 2
    assert found.argv == ("radixbench", "sweep")


def test_memory_available_is_part_of_all() -> None:
    """A new process can't have more memory than the machine or container has."""
    total = memory_bytes()
    assert total is not None
    assert 0 < available_memory_bytes() <= total


def test_packages_are_not_imported() -> None:
    """Asking for torch's version doesn't load torch."""
    code = (
        "import sys; from radixbench.capture.environment import collect; "
        "assert 'torch' in collect([]).packages; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_missing_packages_are_absent() -> None:
    """A package that isn't installed has no entry, rather than an empty one."""
    assert package_versions(["numpy", "surely-not-installed"]).keys() == {"numpy"}


def test_only_variables_that_change_speed() -> None:
    """Thread counts and allocator settings are kept, secrets and everything else never."""
    environ = {
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "HF_TOKEN": "hf_secret",
        "OPENAI_API_KEY": "sk-secret",
        "HOME": "/root",
        "CUDA_VISIBLE_DEVICES": "\udcff",
    }
    assert speed_variables(environ) == {
        "CUDA_VISIBLE_DEVICES": "\\xff",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--api-key", "sk-1", "--seeds", "3"], ["--api-key", STRUCK_OUT, "--seeds", "3"]),
        (["--api-key=sk-1"], [f"--api-key={STRUCK_OUT}"]),
        (["--hf-token", "--api-key"], ["--hf-token", STRUCK_OUT]),
        (["--API_KEY", "x"], ["--API_KEY", STRUCK_OUT]),
        (["--base-url", "http://me:pw@host:1/v1"], ["--base-url", f"http://{STRUCK_OUT}@host:1/v1"]),
        (["--max-total-tokens", "65536"], ["--max-total-tokens", "65536"]),
        (["--out", "caf\udce9"], ["--out", "caf\\xe9"]),
        (["--api-key"], ["--api-key"]),
        (["--server-argument=--api-key=sk-1"], [f"--server-argument=--api-key={STRUCK_OUT}"]),
        (
            ["--server-argument", "--api-key", "--server-argument", "sk-1", "--seeds"],
            ["--server-argument", "--api-key", "--server-argument", STRUCK_OUT, "--seeds"],
        ),
        (
            ["--server-argument=--api-key", "--server-argument=sk-1"],
            ["--server-argument=--api-key", f"--server-argument={STRUCK_OUT}"],
        ),
    ],
)
def test_secrets_are_struck_out(given: list[str], kept: list[str]) -> None:
    """Keys, tokens and logins never reach a capture; counts of tokens do."""
    assert without_secrets(given) == tuple(kept)


def test_host_id_names_a_machine_to_itself() -> None:
    """The same machine has the same name each time: a short hash, no host name."""
    name = host_id()
    assert name == host_id()
    assert name is not None
    assert len(name) == 16
    assert int(name, 16) >= 0
