"""Why there is no answer, in one line: what servers and networks do wrong, and nothing of ours."""

from __future__ import annotations

from typing import NamedTuple

from radixbench.client.answer import one_line

CLOSED_EARLY = "the server closed the connection before it answered"


class Fault(NamedTuple):
    """``refused``: nobody listens; ``broken_off``: the connection was lost in the middle of an answer.

    ``unanswered``: it was lost before the first byte of one.
    """

    message: str
    refused: bool = False
    broken_off: bool = False
    unanswered: bool = False


def unreachable(place: str, error: Exception) -> Fault:
    """No connection to ``place`` came about."""
    if isinstance(error, ConnectionRefusedError):
        return Fault(f"connection refused by {place}", refused=True)
    if isinstance(error, TimeoutError):
        return Fault(f"can't connect to {place}: no answer in time")
    return Fault(one_line(f"can't connect to {place}: {error}"))


def stalled(limit_s: float) -> Fault:
    """Nothing new for as long as the caller was ready to wait."""
    return Fault(f"stalled: nothing new came for {limit_s:g} s")


def lost(*, answered: bool) -> Fault:
    """The connection ended where it shouldn't; ``answered``: bytes of an answer had come."""
    if answered:
        return Fault("the connection broke off", broken_off=True)
    return Fault(CLOSED_EARLY, unanswered=True)


def not_http(error: Exception) -> Fault:
    """Bytes that no HTTP server sends."""
    return Fault(one_line(f"not an HTTP answer: {error}"))
