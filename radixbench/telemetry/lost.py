"""How a probe says that it can't read: from the start, or from now on."""

from __future__ import annotations

from radixbench.errors import RadixbenchError


class ProbeUnavailableError(RadixbenchError):
    """There is nothing to read with this probe on this machine."""


class ProbeLostError(RadixbenchError):
    """The devices are gone in the middle of a run; what was sampled stays."""
