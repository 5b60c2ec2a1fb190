"""Goodput: requests that met every target, per second and as a share, as vLLM's tool counts them."""

from __future__ import annotations

import pytest

from radixbench.metrics.answers import sort_out
from radixbench.metrics.goodput import goodput, goodput_share
from radixbench.metrics.registry import METRICS, reported
from radixbench.metrics.summary import summarise
from radixbench.scenario.model import GoodputSpec
from radixbench.stats.sample import Absent
from tests.builders import failed_request, make_request, make_run

FAST = make_request(0, ttft_s=0.1, output=11, gap_s=0.02)
LATE = make_request(1, ttft_s=0.6, output=11, gap_s=0.02)
SLOW = make_request(2, ttft_s=0.1, output=11, gap_s=0.09)
RUN = make_run([FAST, LATE, SLOW, failed_request(3)])
"""From 0 to 1 s: one request is late, one slow, one fails."""


@pytest.mark.parametrize(
    ("targets", "good"),
    [
        (GoodputSpec(ttft=500), 2),
        (GoodputSpec(tpot=50), 2),
        (GoodputSpec(ttft=500, tpot=50), 1),
        (GoodputSpec(e2el=300), 1),
        (GoodputSpec(itl=20), 2),
        (GoodputSpec(ttft=100), 2),
        (GoodputSpec(ttft=99.9), 0),
        (GoodputSpec(ttft=1000, e2el=2000), 3),
    ],
)
def test_requests_that_met_every_target(targets: GoodputSpec, good: int) -> None:
    """A figure equal to its target meets it; the rate is over the run's window, the share over what was requested."""
    answers = sort_out(RUN, targets)
    assert goodput(answers).value == pytest.approx(good / 1.0)
    assert goodput_share(answers).value == pytest.approx(good / 4)


def test_without_a_target_there_is_no_goodput() -> None:
    """Absent with its reason, and no row among the metrics that a report shows."""
    summary = summarise(RUN)
    for name in ("goodput", "goodput_share"):
        figure = summary.figures[name]
        assert (figure.value, figure.reason) == (None, "no --goodput target was given")
    assert [name for name in METRICS if "goodput" not in name] == [one.name for one in reported([summary])]


def test_given_targets_make_rows() -> None:
    """The targets of the scenario, or others, are the summary's figures."""
    summary = summarise(RUN, goodput=GoodputSpec(ttft=500))
    assert summary.figures["goodput"].value == pytest.approx(2.0)
    assert summary.figures["goodput_share"].value == pytest.approx(0.5)
    assert [one.name for one in reported([summary])] == list(METRICS)


def test_an_answer_without_gaps_meets_a_target_of_pace() -> None:
    """One token, or all of them in one event: nobody waited for a next one."""
    one_token = make_request(0, output=1)
    one_event = make_request(1, output=8, chunk=8, send_s=0.5)
    answers = sort_out(make_run([one_token, one_event]), GoodputSpec(tpot=1, itl=1))
    assert goodput_share(answers).value == 1.0


def test_an_unknown_pace_makes_goodput_unknown() -> None:
    """Without output tokens nobody knows the time per token; other targets don't ask for it."""
    run = make_run([make_request(0, output_tokens=None, output_source=None)])
    reason = goodput(sort_out(run, GoodputSpec(tpot=50))).value
    assert isinstance(reason, Absent)
    assert "output tokens unknown for 1 of 1 requests" in reason.reason
    assert goodput_share(sort_out(run, GoodputSpec(ttft=500))).value == 1.0


def test_all_failed_has_a_share_of_nothing() -> None:
    """No window, so no rate, and the reason; of the requested ones none was served."""
    answers = sort_out(make_run([failed_request(0), failed_request(1)]), GoodputSpec(ttft=500))
    assert isinstance(goodput(answers).value, Absent)
    assert goodput_share(answers).value == 0.0
