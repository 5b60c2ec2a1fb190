"""The protocol of each arm, declared and proved."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import Check
from radixbench.clock import ClockAnchor
from radixbench.report.protocol import protocol_rows, run_order
from tests.report import scenes
from tests.report.evidence import measured, side_of


def rows(change=lambda run: run.protocol):
    """The on arm's rows, each run's protocol changed."""
    on, _ = measured()
    return protocol_rows(
        [side_of(replace(on, runs=tuple(replace(run, protocol=change(run)) for run in on.runs)))]
    )


def test_runs_that_differ_in_counts_only_are_one_row():
    """Cells, seeds, attempts, tiers and the time waited, as ranges."""
    (row,) = rows()
    assert (row.cell, row.seeds, row.declared, row.verified) == (
        "all 4 cells",
        "0–2",
        "cold",
        "verified in 12 of 12 runs",
    )
    assert row.steps[1].startswith(
        "flush of device and host after 2 attempts (status 200, “Cache flushed.”, waited 1.3"
    )


def test_every_check_is_a_line_with_its_word():
    """Held, not so, or not told."""
    (row,) = rows(lambda run: replace(run.protocol, checks=(*run.protocol.checks, Check("x", False, "no"))))
    assert [check.word for check in row.checks] == ["held", "held", "not told", "held", "NOT so"]
    assert row.checks[0].text == "exact repeats: a prompt of 128 tokens sent again found 127 cached"
    assert row.checks[3].text.startswith("measured hits: 0–")


def test_a_run_that_went_otherwise_has_a_row_of_its_own():
    """A check that failed once isn't hidden by those that held."""

    def change(run):
        if run.seed or run.cell["shared_tokens"] or run.cell["max_concurrency"] == 8:
            return run.protocol
        return replace(run.protocol, verified=False, checks=(Check("flush", False, "found 96 cached"),))

    odd, others = rows(change)
    assert (odd.tone, odd.verified) == ("worse", "NOT as declared in 1 of 1 run")
    assert odd.cell == "0 shared tokens, concurrency 1"
    assert others.tone == "better"


def test_priming_and_repeats_are_steps():
    """What was sent beforehand, on purpose and by accident."""
    (row,) = rows(lambda run: replace(run.protocol, priming_requests=4, primed_tokens=2048, ledger_repeats=3))
    assert "primed with 4 requests, 2,048 tokens" in row.steps
    assert row.steps[-1].startswith("3 measured prompts began with a page")


def test_an_off_arm_says_how_it_came_about():
    """By salt here; an on arm says nothing."""
    _, off = measured()
    (row,) = protocol_rows([side_of(off)])
    assert row.origin == "by a salt of its own on every request"
    assert rows()[0].origin == ""


def test_old_captures_show_their_evidence():
    """No checks were recorded; the sentence is there."""
    (row,) = protocol_rows([side_of(scenes.laptop()[0])])
    assert row.checks == ()
    assert row.evidence == "a probe after the flush found 0 cached tokens"


def test_the_order_of_two_sweeps_is_no_order():
    """Arms of one sweep are told run by run; an arm of a day earlier didn't alternate, whatever its numbers say."""
    on, off = measured()
    sides = [side_of(on), side_of(off, slot="b", name="B (cache off)")]
    assert run_order(sides).startswith("The runs followed each other in this order: A B")
    earlier = tuple(
        replace(
            run,
            clock_anchor=ClockAnchor(
                run.clock_anchor.monotonic_ns, run.clock_anchor.wall_ns - 86_400 * 10**9
            ),
        )
        for run in off.runs
    )
    sides[1] = side_of(replace(off, runs=earlier), slot="b", name="B (cache off)")
    assert (
        run_order(sides) == "The arms come from separate measurements: their runs did not alternate in time."
    )
