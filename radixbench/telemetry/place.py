"""Which probe sees what a server computes on: the cards that can be read here do only the work of servers here.

A host is here if everything it stands for is a loopback address or one of this machine's own, which is one that a
socket can be bound to. What can't be resolved isn't here. A tunnel on a loopback port looks as if it were: then the
cards stay idle, which the clock figures notice.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from radixbench.telemetry.probes import CpuProbe, Probe


def is_here(host: str) -> bool:
    """Whether ``host``, a name or an address, is this machine."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(_is_own(family, address) for family, _, _, _, address in found)


def probe_for(
    host: str, probe: Probe, *, on_cpu: bool = False, here: Callable[[str], bool] = is_here
) -> Probe:
    """``probe`` where the server at ``host`` runs on this machine, else one that reads no card and says why.

    ``on_cpu``: the server says that it computes on the CPU, so that cards are none of its business.
    """
    if not here(host):
        return CpuProbe(f"the server is at {host}, which is no address of this machine")
    return CpuProbe("the model runs on the CPU") if on_cpu and probe.devices() else probe


def _is_own(family: int, address: tuple[Any, ...]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        try:
            trial.bind((address[0], 0, *address[2:]))
        except OSError:
            return False
    return True
