"""Was the cache in the state the run declares? Cached tokens answer, not the declaration."""

from __future__ import annotations

from radixbench.compare.arm import ArmRun

SHORTFALL_SHARE = 0.05


def state_fault(one: ArmRun) -> str | None:
    """Why this run's cache state isn't the declared one, ``None`` where nothing speaks against it."""
    protocol, cached = one.run.protocol, one.summary.cache.cached_tokens
    declared = protocol.declared
    if declared not in {"off", "cold"}:
        return None
    probe = protocol.probe_cached_tokens
    if probe is not None and probe > 0:
        return f"a probe after the flush found {probe:,} cached tokens in a run declared {declared}"
    if declared == "off":
        return f"{cached:,} cached tokens in a run declared off" if cached else None
    over = excess(one)
    if over is not None:
        return f"measured {_hit_rate(one)} in a run declared cold: {over}"
    if protocol.verified is False:
        return f"the run isn't verified as cold: {protocol.evidence}"
    return None


def excess(one: ArmRun) -> str | None:
    """Cached tokens above the most that a cold, unlimited cache gives for these prompts."""
    account = one.summary.cache
    if account.cached_tokens is None or one.run.protocol.declared != "cold":
        return None
    # Where requests race, the order decides whether a prompt or its extension comes first: a page each.
    slack = 0
    if account.expected_low < account.expected_high:
        slack = account.page_size * one.summary.completed
    if account.cached_tokens <= account.expected_high + slack:
        return None
    return f"{account.cached_tokens:,} cached tokens where at most {account.expected_high:,} are possible"


def shortfall(one: ArmRun) -> str | None:
    """Cached tokens noticeably below the least that an unlimited cache gives for these prompts."""
    account = one.summary.cache
    if account.cached_tokens is None or one.run.protocol.declared == "off":
        return None
    if account.cached_tokens >= (1.0 - SHORTFALL_SHARE) * account.expected_low:
        return None
    return f"{account.cached_tokens:,} cached tokens where an unlimited cache gives {account.expected_low:,}"


def _hit_rate(one: ArmRun) -> str:
    account = one.summary.cache
    if account.cached_tokens is None or not account.prompt_tokens:
        return "hits"
    return f"hit rate {account.cached_tokens / account.prompt_tokens:.0%}"
