"""The headline says what the verdicts allow, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from radixbench.compare.change import Caveat
from radixbench.report.verdict import comparison_headline
from tests.report.rows import change, comparison, forbidding

THROUGHPUT = "output_throughput"


def headline(*changes, where="tiny (random weights), cpu", **more):
    return comparison_headline(comparison(*changes, **more), where)


def test_captures_without_any_run_say_only_that():
    """Nothing to compare, and nothing that differs."""
    empty = replace(comparison().a, runs=0)
    told = headline(
        a=empty, b=empty, eligible=False, differences=(forbidding("number of measured runs", 0, 0),)
    )
    assert told.sentence == "Nothing was measured: neither capture holds a run."
    assert (told.details, told.label) == ((), "Empty")


def test_cache_on_against_off_names_both_gated_factors_and_the_cost_without_reuse():
    """The sentence of a normal sweep: factors with intervals, where, on what, and the control."""
    told = headline(
        change(value=24.1, low=22.8, high=25.5),
        change(THROUGHPUT, value=4.6, low=4.4, high=4.8),
        change(shared=0, value=1.0, low=0.98, high=1.02, verdict="within-noise", detectable=0.02),
        change(
            THROUGHPUT, shared=0, value=1.0, low=0.97, high=1.03, verdict="within-noise", detectable=0.031
        ),
    )
    assert told.sentence == (
        "Prefix caching made time to first token 24.1× shorter (95 % interval 22.8–25.5×) and output "
        "throughput 4.60× higher (95 % interval 4.40–4.80×) at 4,096 shared tokens, on tiny (random "
        "weights), cpu; at 0 shared tokens it cost nothing measurable (within noise; an effect of 3.1 % or "
        "more would have been seen)."
    )
    assert (told.tone, told.label) == ("better", "Better")


def test_a_slower_candidate_is_told_as_longer_with_the_inverted_interval():
    """A factor below 1 is shown as its reciprocal, in words that say it is worse."""
    told = headline(change(value=0.8, low=0.75, high=0.85, verdict="worse"), modes=("on", "on"), where="")
    assert told.sentence == (
        "Candidate A against reference B: time to first token 1.25× longer (95 % interval 1.18–1.33×) at 4,096 "
        "shared tokens."
    )
    assert told.tone == "worse"


def test_a_candidate_is_led_by_its_gravest_regression():
    """One worse cell among better ones leads the sentence of a candidate against a reference."""
    told = headline(
        change(shared=0, value=0.7, low=0.65, high=0.75, verdict="worse"),
        change(shared=4096, value=1.5, low=1.4, high=1.6),
        modes=("on", "on"),
    )
    assert "longer" in told.sentence
    assert "at 0 shared tokens" in told.sentence
    assert told.label == "Mixed"


@pytest.mark.parametrize(
    ("value", "bound", "words"),
    [
        (24.0, "upper", "at most 24.0× shorter (upper bound,"),
        (24.0, "lower", "at least 24.0× shorter (lower bound,"),
        (0.5, "upper", "at least 2.00× longer (lower bound,"),
        (0.5, "lower", "at most 2.00× longer (upper bound,"),
    ],
)
def test_a_bound_is_said_in_words_and_turns_with_the_factor(value, bound, words):
    """An upper bound of a factor below 1 is a lower bound of how much worse it is."""
    verdict = "better" if value > 1 else "worse"
    told = headline(change(value=value, low=value * 0.9, high=value * 1.1, verdict=verdict, bound=bound))
    assert words in told.sentence
    assert "bound of the factor" in told.label


def test_within_noise_claims_no_change_and_names_what_would_have_been_seen():
    """No factor is quoted for a row within noise."""
    told = headline(change(value=1.01, low=0.99, high=1.03, verdict="within-noise", detectable=0.04))
    assert told.sentence.startswith(
        "Prefix caching made no measurable difference to time to first token at 4,096"
    )
    assert "4.0 % or more" in told.sentence
    assert "×" not in told.sentence
    assert told.label == "No difference seen"


def test_within_noise_without_a_detectable_effect_promises_nothing():
    """A row that can't say what it would have shown doesn't."""
    told = headline(change(verdict="within-noise", value=1.0))
    assert told.sentence.endswith("(within noise).")


def test_a_blunt_measurement_does_not_pass_for_no_cost():
    """From 10 % on the sentence says "only", from 25 % on that nothing can be told."""
    blunt = headline(change(), change(shared=0, value=1.0, verdict="within-noise", detectable=0.2))
    assert blunt.sentence.endswith("(within noise; only an effect of 20.0 % or more would have been seen).")
    blind = headline(change(), change(shared=0, value=1.0, verdict="within-noise", detectable=0.789))
    assert blind.sentence.endswith(
        "; at 0 shared tokens the runs were too noisy to tell what it cost (only a change of 78.9 % or more "
        "would have been seen)."
    )
    assert "1 within noise; 1 of those within noise was too noisy to tell" in blind.details[0]


def test_a_control_of_which_one_row_is_blind_says_which():
    """What was seen of one metric doesn't speak for the other."""
    told = headline(
        change(),
        change(shared=0, value=1.0, verdict="within-noise", detectable=0.03),
        change(THROUGHPUT, shared=0, value=1.0, verdict="within-noise", detectable=2.11),
    )
    assert told.sentence.endswith(
        "at 0 shared tokens it cost nothing measurable in time to first token (within noise; an effect of 3.0 % "
        "or more would have been seen), and the runs were too noisy to tell what it cost in output throughput "
        "(only a change of 3.11× or more would have been seen)."
    )


@pytest.mark.parametrize(
    ("modes", "start"),
    [
        (("on", "off"), "The runs were too noisy to tell what prefix caching did to time to first token at"),
        (
            ("on", "on"),
            "Candidate A against reference B: the runs were too noisy to tell a difference in time",
        ),
    ],
)
def test_blind_rows_do_not_pass_for_no_difference(modes, start):
    """A leading cell that shows nothing is told as noise, and the label says so."""
    row = change(value=1.0, verdict="within-noise", detectable=0.5)
    told = headline(row, modes=modes)
    assert told.sentence.startswith(start)
    assert told.sentence.endswith("(only a change of 50.0 % or more would have been seen).")
    assert "no measurable" not in told.sentence
    assert (told.tone, told.label) == ("caution", "Too noisy to tell")
    still = change(THROUGHPUT, value=1.0, verdict="within-noise", detectable=0.03)
    assert headline(row, still, modes=modes).label == "Partly too noisy to tell"
    assert "; too noisy to tell a difference in time to first token (only" in headline(row, still).sentence


def test_sides_not_measured_in_turns_are_told_first():
    """The first line under the sentence says what a drift may have done."""
    caveat = Caveat("not-interleaved", "warning", "9 of 9 pairs weren't run back to back: drift", "r")
    told = headline(change(), change(shared=0), caveats=(caveat,), modes=("on", "on"))
    assert told.details[0] == (
        "Both sides were measured one after the other, so that a drift of the machine may be all of the "
        "difference (9 of 9 pairs weren't run back to back)."
    )
    assert len(told.details) == 3


def test_the_control_of_a_sweep_over_turns_has_one_turn():
    """Later turns reuse the conversation, so that 0 shared tokens alone are no control."""
    rows = [
        change(cell={"shared_tokens": 0, "turns": turns}, value=value, low=value * 0.9, high=value * 1.1)
        for turns, value in ((4, 5.0), (1, 1.3), (8, 9.0))
    ]
    told = headline(*rows)
    assert "at 0 shared tokens, 1 turn, with nothing to reuse, time to first token 1.30×" in told.sentence
    assert "4 turns" not in told.sentence
    assert "with nothing to reuse" not in headline(rows[0], rows[2]).sentence


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (0, "No seed has a figure on both sides; a verdict needs 3 paired seeds."),
        (1, "1 paired seed gives no interval; a verdict needs 3, 2 are missing."),
        (2, "Intervals come from 2 paired seeds; a verdict needs 3, 1 is missing."),
    ],
)
def test_too_few_pairs_say_how_many_are_missing(pairs, told):
    """No interval is claimed where none can be."""
    row = change(verdict="undecided", value=None, reason="few", pairs=((0, 1.0, 2.0),) * pairs)
    assert headline(row).details[-1] == told


def test_figures_with_fewer_pairs_than_others_are_not_given_their_intervals():
    """The line on pairs speaks for every gated figure."""
    lone = change(shared=0, verdict="undecided", value=None, reason="few", pairs=((0, 1.0, 2.0),))
    last = headline(change(), lone).details[-1]
    assert last.startswith("Intervals come from up to 3 paired seeds; a figure with fewer than 2 has none;")


def test_undecided_rows_give_their_reasons_and_no_factor():
    """Rows that are undecided for one reason are named together."""
    rows = [
        change(name, verdict="undecided", reason="2 pairs, 3 are needed") for name in ("ttft_p50", THROUGHPUT)
    ]
    told = headline(*rows, where="tiny, cpu")
    assert told.sentence == (
        "No verdict on time to first token and output throughput at 4,096 shared tokens, on tiny, cpu: 2 pairs, 3 "
        "are needed."
    )
    assert told.tone == "caution"


def test_one_decided_row_does_not_speak_for_the_undecided_one():
    """Decided and undecided rows of one cell stand side by side."""
    told = headline(change(), change(THROUGHPUT, verdict="undecided", value=None, reason="a run is missing"))
    assert "24.1× shorter" in told.sentence
    assert told.sentence.endswith("; undecided for output throughput: a run is missing.")


def test_incomparable_captures_name_every_reason():
    """Each forbidding difference is in the sentence; allowed ones are not."""
    told = comparison_headline(
        comparison(
            change(verdict="incomparable"),
            eligible=False,
            differences=(forbidding("dtype", "float32", "bfloat16"), forbidding("weights", "aa", None)),
        ),
        "tiny, cpu",
    )
    assert told.sentence == (
        "No verdict: these captures can't be compared, because dtype differs (float32 against bfloat16) and "
        "weights differs (aa against nothing)."
    )
    assert told.tone == "refused"


def test_a_cost_without_reuse_is_told():
    """A worse control cell follows the good news at once."""
    told = headline(change(), change(shared=0, value=0.9, low=0.88, high=0.92, verdict="worse"))
    assert "; at 0 shared tokens it cost: time to first token 1.11× longer" in told.sentence
    assert told.label == "Mixed"


def test_a_gain_without_reuse_is_named_as_something_else():
    """A better control cell throws doubt on the factor, in the headline itself."""
    told = headline(change(), change(shared=0, value=1.3, low=1.2, high=1.4))
    assert "with nothing to reuse, time to first token 1.30× shorter" in told.sentence
    assert told.sentence.endswith("more than reuse differs between the arms.")


def test_an_undecided_control_is_told_as_undecided():
    """A control without a verdict is not passed off as "no cost"."""
    told = headline(change(), change(shared=0, verdict="undecided", value=None, reason="one pair"))
    assert told.sentence.endswith("at 0 shared tokens its cost is undecided (one pair).")


def test_switching_the_cache_off_reads_from_its_own_side():
    """With A off and B on, nothing is called a cost of caching."""
    told = headline(
        change(value=0.05, low=0.04, high=0.06, verdict="worse"),
        change(shared=0, value=1.1, low=1.05, high=1.15),
        modes=("off", "on"),
    )
    assert told.sentence.startswith("Switching prefix caching off made time to first token 20.0× longer")
    assert "at 0 shared tokens time to first token 1.10× shorter" in told.sentence


def test_a_factor_without_an_interval_says_so():
    """Two sides with one run each have a factor and no interval."""
    told = headline(change(low=None, high=None))
    assert "24.1× shorter (no interval)" in told.sentence


def test_serious_caveats_are_pointed_at():
    """The lines under the sentence name the serious caveats, once each."""
    caveats = (Caveat("throttled", "serious", "t", "r"), Caveat("few-values", "info", "t", "r"))
    told = headline(change(), caveats=caveats)
    assert "Read the serious caveats before quoting a figure: throttled." in told.details


def test_worse_cells_away_from_the_headline_are_listed():
    """A regression in the middle of a sweep is in the lines below the sentence."""
    told = headline(change(), change(shared=1024, value=0.9, low=0.85, high=0.95, verdict="worse"))
    assert any(
        line.startswith("At 1,024 shared tokens: time to first token 1.11× longer") for line in told.details
    )
    assert "Of 2 gated figures: 1 better and 1 worse." in told.details


def test_no_common_cell_is_no_verdict():
    """Nothing gated, nothing claimed."""
    assert headline().tone == "refused"


def test_counts_follow_the_gate():
    """Rows outside the gate are neither counted nor told."""
    rows = [change(shared=shared) for shared in (0, 4096)] + [
        change("e2e_p50", verdict="worse", value=0.5, low=0.4, high=0.6)
    ]
    told = comparison_headline(comparison(*rows), "", ("e2e_p50",))
    assert told.sentence.startswith("Prefix caching made end-to-end latency 2.00× longer")
    assert told.tone == "worse"
    both = comparison_headline(comparison(*rows), "", ("ttft_p50", "e2e_p50"))
    assert "Of 3 gated figures: 2 better and 1 worse." in both.details
