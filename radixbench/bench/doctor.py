"""Is this machine fit to measure? Each check says what it saw and, where something is amiss, the remedy.

The last check is no inventory: it starts a real server process with a scripted model, sends one
prompt twice and wants to see the cache hit, so that the whole chain is known to work.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from radixbench.bench.target import BundledServer
from radixbench.capture.environment import available_memory_bytes, collect
from radixbench.client.http import ServerClient
from radixbench.client.loop import run as run_loop
from radixbench.errors import RadixbenchError
from radixbench.model.device import device_name, pick_device, pick_dtype, pick_threads, usable_cores
from radixbench.scenario.model import Scenario
from radixbench.telemetry.probes import Company, look_at_company, pick_probe

State = Literal["ok", "note", "fault"]

_GIB = 1 << 30
_LEAST_MEMORY = 4 * _GIB
_LEAST_DISK = 2 * _GIB
_READY_S = 60.0
_MOST_OTHERS = 1.0  # a core's worth of others' work


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. A ``note`` limits what can be measured, a ``fault`` prevents it."""

    name: str
    state: State
    text: str
    remedy: str | None = None


def examine() -> Iterator[Check]:
    """All checks, one after the other; none raises."""
    checks: tuple[Callable[[], Check], ...] = (_packages, _cores, _load, _memory, _disk, _gpu, _torch, _chain)
    for check in checks:
        try:
            yield check()
        except RadixbenchError as error:
            yield Check(check.__name__.strip("_"), "fault", error.message, error.remedy)
        except OSError as error:
            yield Check(check.__name__.strip("_"), "fault", str(error), "mend the path or its permissions")


def _packages() -> Check:
    environment = collect(())
    versions = environment.packages
    shown = ", ".join(
        f"{name} {versions[name]}" for name in ("torch", "transformers", "numpy") if name in versions
    )
    text = f"radixbench {environment.radixbench}, Python {environment.python}, {shown}"
    return Check("packages", "ok", text)


def _cores() -> Check:
    cores = usable_cores()
    if cores < 2:
        return Check(
            "cores",
            "note",
            "one core: client and server take it from each other",
            "use two or more; ratios stay usable, absolute figures don't",
        )
    return Check("cores", "ok", f"{cores} cores; the server takes {pick_threads(None)}, the client the other")


def _load() -> Check:
    return judge_load(look_at_company())


def judge_load(company: Company) -> Check:
    """Whether others leave the cores to a measurement: now, and over the last minute."""
    average = company.load_average
    over = "" if average is None else f"load average {average:.1f} on {company.cores} cores, "
    text = f"{over}others use {company.others:.1f} of them now" if over else _others_alone(company)
    if company.others > _MOST_OTHERS:
        return Check(
            "load", "note", f"not fit to measure now: {text}", "end other programs, or wait for them"
        )
    if average is not None and average > company.cores:
        return Check("load", "note", f"busy until a moment ago: {text}", "look again in a minute")
    return Check("load", "ok", text)


def _others_alone(company: Company) -> str:
    return f"others use {company.others:.1f} of {company.cores} cores now"


def _memory() -> Check:
    free = available_memory_bytes()
    text = f"{free / _GIB:.1f} GiB available"
    if free < _LEAST_MEMORY:
        return Check(
            "memory", "note", text, "two servers with the built-in model want 4 GiB; end other programs"
        )
    return Check("memory", "ok", text)


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    text = f"{free / _GIB:.1f} GiB free here"
    if free < _LEAST_DISK:
        return Check("disk", "note", text, "long sweeps save more than that; free some or use --out")
    return Check("disk", "ok", text)


def _gpu() -> Check:
    probe = pick_probe()
    try:
        devices = probe.devices()
        if not devices:
            return Check("gpu", "note", probe.note or "no GPU", "on a CPU, clocks of a GPU can't matter")
        names = "; ".join(f"{device.name} (driver {device.driver or 'unknown'})" for device in devices)
        missing = sorted({name for device in devices for name in device.unsupported})
        if missing:
            return Check("gpu", "note", f"{names}; not readable: {', '.join(missing)}")
        return Check("gpu", "ok", names)
    finally:
        probe.close()


def _torch() -> Check:
    device = pick_device("auto")
    return Check(
        "torch", "ok", f"computes on {device} ({device_name(device)}) in {pick_dtype('auto', device)}"
    )


def _chain() -> Check:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        server = BundledServer(Scenario(name="doctor"), "on", log, ("--runner", "fake"))
        server.start()
        try:
            cached = run_loop(_ask_twice(server))
        finally:
            server.stop()
    if cached != 31:
        return Check("chain", "fault", f"a repeated prompt of 32 tokens found {cached} cached, not 31")
    return Check(
        "chain", "ok", "a scripted server started, answered, and found a repeated prompt in its cache"
    )


async def _ask_twice(server: BundledServer) -> int | None:
    prompt = tuple(range(32))
    async with ServerClient(server.base_url) as client:
        await client.wait_ready(_READY_S, lambda: not server.has_ended())
        await client.generate(prompt, 1)
        return (await client.generate(prompt, 1)).usage.cached_tokens
