"""The hit rate with the tokens it is made of, or why it is unknown; what other lines say stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from radixbench.metrics.log_summary.model import LogSummary, PrefillFigures, RequestFigures, ServerWindow
from radixbench.report import text
from radixbench.report.logs.model import Fact, HitRate
from radixbench.report.logs.numbers import rate

UNKNOWN = "unknown"
_NOT_PRINTED = "not printed"


def hit_rate(summary: LogSummary) -> HitRate:
    """From batch lines where they tell it, else from lines about single requests."""
    prefill, requests = summary.prefill, summary.requests
    windows = tuple(_window(window) for window in summary.server_windows)
    lead = ""
    if prefill.hit_rate is not None:
        lower = prefill.hit_rate_bound == "lower"
        value = rate(prefill.hit_rate, lower=lower)
        equation = _of_batches(prefill.cached_tokens, prefill.new_tokens)
    elif requests.hit_rate is not None:
        value, equation = rate(requests.hit_rate), _of_prompts(requests)
    elif windows:
        value, equation, lead = _NOT_PRINTED, "", _lead(summary.server_windows)
    else:
        value, equation = UNKNOWN, ""
    details = (*_details(summary), *(f"{fact.title}: {fact.value}" for fact in windows))
    return HitRate(value, equation, details, known=bool(equation), windows=windows, lead=lead)


def _lead(windows: Sequence[ServerWindow]) -> str:
    """``the log doesn't print it; the server's own prefix cache hit rate over the last 1000 requests: 86.5 %``."""
    own = "; ".join(f"the server's own {window.what}: {rate(window.last)}" for window in windows)
    return f"the log doesn't print it; {own}"


def _window(window: ServerWindow) -> Fact:
    """``last 81.2 %, from 75.0 % to 83.1 % over the log``."""
    last = rate(window.last)
    value = f"last {last}, from {rate(window.low)} to {rate(window.high)} over the log"
    if window.low == window.high:
        value = f"{last} throughout"
    title = f"the server's own window, not this log's: {window.what}"
    return Fact(f"window_{window.what}", title, value)


def _of_batches(cached: int | None, new: int | None) -> str:
    if cached is None or new is None:
        return ""
    return f"{text.count(cached)} cached / ({text.count(cached)} cached + {text.count(new)} new)"


def _of_prompts(requests: RequestFigures) -> str:
    prompt = requests.known_prompt_tokens
    if requests.cached_tokens is None or prompt is None:
        return ""
    of = "" if prompt == requests.prompt_tokens else " of the requests that tell both"
    return f"{text.count(requests.cached_tokens)} cached / {text.count(prompt)} prompt tokens{of}"


def _details(summary: LogSummary) -> Iterator[str]:
    prefill, requests = summary.prefill, summary.requests
    finished = text.plural(requests.n, "single request")
    if prefill.hit_rate is None:
        reason = prefill.reason or "no prompt tokens were counted"
        yield reason if requests.hit_rate is None else f"from lines about {finished}; batch lines: {reason}"
        return
    if prefill.hit_rate_bound == "lower":
        yield _bounds(prefill)
    if requests.hit_rate is not None:
        made_of = _of_prompts(requests)
        told = f"{rate(requests.hit_rate)} = {made_of}" if made_of else rate(requests.hit_rate)
        yield f"lines about {finished}: {told}"
    if summary.quote is not None and requests.hit_rate is not None:
        ours = summary.quote == "requests"
        better = rate(requests.hit_rate if ours else prefill.hit_rate)
        which = f"lines about {finished}" if ours else "batch lines"
        why = "" if summary.quote_reason is None else f": {summary.quote_reason}"
        yield f"of the two quote {better} ({which}){why}"


def _bounds(prefill: PrefillFigures) -> str:
    if prefill.hit_rate_upper is None:
        return "lower bound: the true rate can only be higher; the notes say why"
    most = rate(prefill.hit_rate_upper, upper=True)
    return f"lower bound: the true rate is higher, up to {most}; the notes say why"
