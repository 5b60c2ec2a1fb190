"""What bringing the cache into its state showed: repeats, a cache that can't do all, salts."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import several

_OFF_WORDS = {
    "salt": (
        "off by salt: the server's cache stays on, so it still looks prompts up, inserts every one under a name nobody asks"
        " for again and evicts when the pool is full; the cost of caching is in both arms, and the pool fills up"
    ),
    "flush": (
        "off by flushing before every request: one request at a time, each into an emptied cache, which costs the server"
        " its warm allocator too"
    ),
}


def protocol_findings(run: Run) -> Iterator[Finding]:
    """The ledger, the checks that failed, and how an arm without reuse came about."""
    protocol = run.protocol
    if protocol.ledger_repeats:
        yield Finding(
            "sent-before",
            "warning",
            f"{several(protocol.ledger_repeats, 'measured prompt')} begin as ones this server had been sent before, outside"
            " of the run",
            "take other seeds, or prove a flush in between",
        )
    for check in protocol.checks:
        if check.held is False and check.name in {"extensions", "exact repeats"} and run.mode == "on":
            yield Finding(
                "no-extensions" if check.name == "extensions" else "no-repeats",
                "warning",
                f"the cache doesn't find {check.name} of a prompt: {check.detail}",
                "look at the model (hybrid models keep a state), the page size and whether the cache is on",
            )
    if protocol.off_mode in _OFF_WORDS and run.mode == "off":
        yield Finding(
            f"off-by-{protocol.off_mode}",
            "info",
            _OFF_WORDS[protocol.off_mode],
            "start a second server without its cache (--off-mode flag) to measure what caching itself costs",
        )
