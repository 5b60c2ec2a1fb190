"""Why the new tokens were computed: parts that add up to them, and no cause that the log doesn't tell."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from radixbench.logs.record import LogRecord
from radixbench.metrics.log_summary.model import LogSummary
from radixbench.metrics.log_summary.reuse import Reuse
from tests.metrics.log_summary.records import (
    arguments,
    codes,
    decode,
    event,
    finish,
    note,
    prefill,
    slot,
    summarise,
)


def _parts(summary: LogSummary) -> dict[str, int]:
    return {part.cause: part.tokens for part in summary.uncached}


def _timed(prompt: int, cached: int) -> LogRecord:
    return event(
        "request_stats", input_len=prompt, cached_input_len=cached, output_len=8, extra={"forward_duration_ms": 1500.0}
    )  # fmt: skip


def test_lines_of_one_sequence_tell_and_others_do_not() -> None:
    """A prompt without a hit (or with the first token alone), what follows a hit, and lines of several prompts."""
    log = [prefill(1000), prefill(10, 1, at=1), prefill(50, 950, at=2), prefill(300, 700, at=3, new_seq=4)]
    assert _parts(summarise(log)) == {"no-hit": 1010, "behind-the-hit": 50, "untold": 300}


def test_an_emptied_cache_counts_until_the_first_reuse() -> None:
    """After a start or a flush, whatever the number of sequences; the first reuse ends it."""
    log = [arguments(), event("ready", at=1)]
    log += [prefill(1000, at=2, new_seq=3), prefill(40, 960, at=3), prefill(500, at=4)]
    log += [event("flush", at=5), prefill(700, at=6)]
    assert _parts(summarise(log)) == {"empty-cache": 1700, "no-hit": 500, "behind-the-hit": 40}


@settings(deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6), st.integers(1, 3)), min_size=1),
    st.integers(0, 3),
    st.booleans(),
)
def test_many_lines_at_once_are_the_same(lines: list[tuple[int, int, int]], parts: int, empty: bool) -> None:
    """Columns of lines, in one piece or several, come to what the lines come to one by one."""
    one_by_one, at_once = Reuse(), Reuse()
    if empty:
        one_by_one.empty()
        at_once.empty()
    for line in lines:
        one_by_one.add(*line)
    for piece in np.array_split(np.array(lines, dtype=np.int64), parts + 1):
        at_once.count(piece[:, 0], piece[:, 1], piece[:, 2])
    for name in ("after_empty", "no_hit", "behind_hit"):
        assert getattr(at_once, name) == getattr(one_by_one, name)


def test_a_server_that_never_reuses_anything_is_not_excused() -> None:
    """An empty cache is no cause where nothing was ever reused."""
    log = [arguments(), *(prefill(100, at=n) for n in range(3)), prefill(100, at=4, new_seq=2)]
    assert _parts(summarise(log)) == {"no-hit": 300, "untold": 100}


def test_a_cache_that_is_off_explains_everything() -> None:
    """By its arguments."""
    assert _parts(summarise([arguments(disable_radix_cache=True), prefill(100)])) == {"cache-off": 100}


def test_request_lines_tell_what_was_computed_again() -> None:
    """Each prompt has a line of its own: what the batches computed beyond them came with a retraction, less the warm-up."""
    log = [arguments(), prefill(8), event("ready", at=1), prefill(1000, at=2), prefill(100, 900, at=3)]
    log += [
        event("retract", at=4, retracted_reqs=1),
        prefill(1000, at=5),
        decode(at=6),
        _timed(1000, 0),
        _timed(1000, 900),
    ]
    summary = summarise(log)
    assert _parts(summary) == {"no-hit": 1000, "behind-the-hit": 100, "computed-again": 1000, "untold": 8}
    assert summary.quote == "requests"
    assert note(summary, "quote-requests").startswith(
        "Of the two hit rates quote 45.0 % (request lines), not 29.9 %"
    )
    assert summary.requests.forward is not None
    assert summary.requests.forward.p50 == 1.5


def test_request_lines_that_lack_some_prompts_are_not_quoted() -> None:
    """Two of three prompts have a line: the batches count all of them."""
    log = [
        prefill(1000),
        prefill(100, 900, at=1),
        prefill(500, 500, at=2),
        finish(1000, 0),
        finish(1000, 900),
    ]
    summary = summarise(log)
    assert summary.quote == "batches"
    assert "2 request lines for 3 prompts" in note(summary, "quote-batches")
    assert _parts(summary)["no-hit"] == 1000


def test_request_lines_that_contradict_the_batches_are_not_quoted() -> None:
    """More cached tokens than the batches reused."""
    summary = summarise([prefill(1000), finish(1000, 900)])
    assert (summary.quote, summary.quote_reason) == (
        "batches",
        "the request lines count more cached tokens than the batches reused",
    )


def test_two_rates_that_agree_need_no_choice() -> None:
    """Nothing to quote one of."""
    summary = summarise([prefill(100, 900), finish(1000, 900)])
    assert (summary.quote, codes(summary) & {"quote-requests", "quote-batches"}) == (None, set())


def test_timings_without_reuse_stay_untold() -> None:
    """llama.cpp's old lines don't say what was reused."""
    summary = summarise([slot("prompt_eval", slot=0, task=0, prompt_n=100, prompt_ms=10.0)])
    assert _parts(summary) == {"untold": 100}
