"""Whether somebody else used the server while a run was measured, by the server's own counts.

Others' requests queue before ours, evict what ours would find and leave what ours never sent: a run they had a
noticeable share in is set aside. Below that share, a health check for instance, the figures stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.capture.model import Check, Run
from radixbench.findings.model import Finding
from radixbench.findings.words import percent
from radixbench.metrics.answers import prompt_length

DISTURBED_SHARE = 0.01
"""The share of our own requests, or of their prompt tokens, that others may have sent as well."""

_REMEDY = "measure a server nobody else uses"


def disturbed(run: Run) -> bool:
    """Whether others had so much of the server that no verdict may rest on the run."""
    return _others(run) is not None and _share(run) > DISTURBED_SHARE


def alone_findings(run: Run) -> Iterator[Finding]:
    """What others did meanwhile, and whether the run still counts."""
    check = _others(run)
    if check is None:
        return
    said = f"somebody else used the server meanwhile: {check.detail}"
    if disturbed(run):
        yield Finding("not-alone", "serious", f"{said}; the run is set aside", _REMEDY)
    else:
        little = f"no more than {percent(DISTURBED_SHARE)} of our requests and prompt tokens, so the run still counts"
        yield Finding("not-alone", "warning", f"{said}, {little}", _REMEDY)


def _others(run: Run) -> Check | None:
    return next((one for one in run.protocol.checks if one.name == "alone" and one.held is False), None)


def _share(run: Run) -> float:
    """Others' part beside ours, of requests or of prompt tokens, whichever is more; all where counters don't tell."""
    counted, sent = run.counters, len(run.requests)
    if counted is None or counted.reset or counted.requests is None or not sent:
        return 1.0
    requests = (counted.requests - sent) / sent
    ours = sum(prompt_length(request) for request in run.requests)
    if counted.prompt_tokens is None or not ours:
        return requests
    return max(requests, (counted.prompt_tokens - ours) / ours)
