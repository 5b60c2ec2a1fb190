"""Was the cache in the state the run declares? Cached tokens answer, not the declaration; where answers don't tell
of them, the server's counters and log do.

A run that wasn't is set aside: marked, and never averaged.

off     nothing may be found
cold    nothing may be found that the run itself didn't put there
primed  what was put there beforehand must be found, and no more than that explains
warm    the same
"""

from __future__ import annotations

from dataclasses import dataclass

from radixbench.capture.model import Run
from radixbench.findings.counted import counted_excess, counted_hits
from radixbench.findings.words import percent
from radixbench.metrics.figure import RunSummary
from radixbench.metrics.prefixes import CachedPrefixes, tree_depths
from radixbench.units import Tokens

REACH_SHARE = 0.95
"""The share of the primed tokens that must be found."""

_REMEDIES = {
    "cold-not-cold": "flush the cache before each run and prove it, and never send the same tokens twice",
    "not-primed": "the pool is too small for what was primed, or prefixes differ: raise --max-total-tokens",
    "not-warm": "the pool is too small for the working set, or prefixes differ: raise --max-total-tokens",
}


_OFF_REMEDIES = {
    "flag": "see that the server was started without its cache, or flush before every request (--off-mode flush)",
    "salt": "switch the cache off by a server flag (--off-mode flag), or flush before every request (--off-mode flush)",
    "flush": "the flush doesn't empty the cache, or somebody else fills it: switch it off by a server flag (--off-mode flag)",
}


@dataclass(frozen=True, slots=True)
class StateFault:
    """A run's cache wasn't in its declared state: a code, why in words, and what to do about it."""

    code: str
    text: str
    remedy: str


def state_fault(run: Run, summary: RunSummary) -> StateFault | None:
    """Why this run's cache state isn't the declared one, ``None`` where nothing speaks against it."""
    declared = run.protocol.declared
    if declared == "off":
        code, why, remedy = (
            "off-not-off",
            _not_off(run, summary),
            _OFF_REMEDIES[run.protocol.off_mode or "flag"],
        )
    elif declared == "cold":
        code, why, remedy = "cold-not-cold", _not_cold(run, summary), _REMEDIES["cold-not-cold"]
    else:
        code, why, remedy = f"not-{declared}", _not_filled(run, summary), _REMEDIES[f"not-{declared}"]
    return None if why is None else StateFault(code, why, remedy)


def excess(run: Run, summary: RunSummary) -> str | None:
    """How far hits are above the most that an unlimited cache gives for these prompts, with what was held before."""
    account = summary.cache
    if account.cached_tokens is None or run.protocol.declared == "off":
        return None
    # Where requests race, the order decides whether a prompt or its extension comes first: a page each.
    slack = account.page_size * summary.completed if account.expected_low < account.expected_high else 0
    rounding = (account.page_size - 1) * summary.completed
    if account.cached_tokens <= account.expected_high + slack and account.excess <= rounding:
        return None
    most = min(account.expected_high, account.cached_tokens - account.excess)
    told = f"{account.cached_tokens:,} cached tokens where at most {most:,} are possible"
    if not account.prompt_tokens:
        return told
    rate, limit = (percent(tokens / account.prompt_tokens) for tokens in (account.cached_tokens, most))
    return f"measured hit rate {rate}, above the theoretical maximum {limit}: {told}"


def _not_off(run: Run, summary: RunSummary) -> str | None:
    protocol, cached = run.protocol, summary.cache.cached_tokens
    how = "off" if protocol.off_mode is None else f"off by {protocol.off_mode}"
    if protocol.probe_cached_tokens:
        return f"a probe found {protocol.probe_cached_tokens:,} cached tokens in a run declared {how}"
    if cached and protocol.off_mode == "salt":
        return f"{cached:,} cached tokens in a run declared {how}: the server doesn't know the salt, or its cache crosses salts"
    if cached:
        return f"{cached:,} cached tokens in a run declared {how}"
    if _states_on(run):
        return f"the server states that its cache is on, in a run declared {how}"
    counted = counted_hits(run, summary)
    if counted is not None and counted.tokens:
        return f"{counted.source} counted {counted.tokens:,} cached tokens in a run declared {how}, of which the answers don't tell"
    return _unverified(run)


def _states_on(run: Run) -> bool:
    """Whether a server that was to be started without its cache names the setting that switches it on."""
    if run.protocol.off_mode not in {None, "flag"}:
        return False
    args, identity = run.server.args, run.server.identity
    if args.get("disable_radix_cache") is False or args.get("enable_prefix_caching") is True:
        return True
    return identity.get("radix_cache") is True


def _not_cold(run: Run, summary: RunSummary) -> str | None:
    probe = run.protocol.probe_cached_tokens
    if probe:
        return f"a probe after the flush found {probe:,} cached tokens in a run declared cold"
    over = excess(run, summary)
    if over is not None:
        return f"{over}, in a run declared cold"
    counted = counted_excess(run, summary)
    if counted is not None:
        return f"{counted}, in a run declared cold"
    return _unverified(run)


def _not_filled(run: Run, summary: RunSummary) -> str | None:
    """``primed`` and ``warm``: too little found of what was put there, or more than that."""
    declared = run.protocol.declared
    wanted, found = held_reach(run, summary)
    if found is None and (counted := counted_hits(run, summary)) is not None:
        found = counted.tokens
    if found is not None and found < REACH_SHARE * wanted:
        return f"measured {found:,} cached tokens where {wanted:,} were put there beforehand, in a run declared {declared}"
    over = excess(run, summary) if run.prompts.held else None
    if over is not None:
        return f"{over}, in a run declared {declared}"
    beyond = counted_excess(run, summary) if run.prompts.held else None
    if beyond is not None:
        return f"{beyond}, in a run declared {declared}"
    return _unverified(run)


def _unverified(run: Run) -> str | None:
    protocol = run.protocol
    if protocol.verified is not False:
        return None
    return f"the run isn't verified as {protocol.declared}: {protocol.evidence}"


def held_reach(run: Run, summary: RunSummary) -> tuple[Tokens, Tokens | None]:
    """Tokens of the answered prompts held before the first request, and how many of them were found, at most that many
    each; ``None`` where the server doesn't tell.
    """
    tree = run.prompts
    depths = tree_depths(tree)
    held = CachedPrefixes(tree, depths)
    page = summary.cache.page_size
    wanted = found = 0
    for request in run.requests:
        node = tree.prompts[request.prompt] if request.prompt < len(tree.prompts) else None
        if request.status != "completed" or node is None:
            continue
        tokens = max(0, min(held.match(node).tokens, depths[node] - 1)) // page * page
        wanted += tokens
        found += min(request.cached_tokens or 0, tokens)
    return wanted, None if summary.cache.cached_tokens is None else found
