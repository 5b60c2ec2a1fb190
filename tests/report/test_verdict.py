"""The headline says what the verdicts allow, and no more."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from radixbench.compare.change import Caveat
from radixbench.compare.eligible import UNMENDABLE
from radixbench.compare.verdict import HEADLINE as HEADLINE_METRICS
from radixbench.findings.client import CLIENT_LAG
from radixbench.findings.model import Finding
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


def test_a_side_without_any_run_is_missing_and_not_unlike():
    """A sweep that was interrupted before the second arm's first run says what is missing, and how to go on."""
    empty = replace(comparison().b, runs=0, planned_runs=9)
    told = headline(b=empty, eligible=False, differences=(forbidding("number of measured runs", 1, 0),))
    assert told.sentence == "No verdict yet: B holds none of its 9 planned runs."
    assert (told.tone, told.label) == ("refused", "Nothing to compare")
    assert told.details[-1] == "An interrupted sweep goes on with --resume."


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
        "more would likely have been seen)."
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
    assert blunt.sentence.endswith(
        "(within noise; only an effect of 20.0 % or more would likely have been seen)."
    )
    blind = headline(change(), change(shared=0, value=1.0, verdict="within-noise", detectable=0.789))
    assert blind.sentence.endswith(
        "; at 0 shared tokens the runs were too noisy to tell what it cost (only a change of 78.9 % or more "
        "would likely have been seen)."
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
        "or more would likely have been seen), and the runs were too noisy to tell what it cost in output throughput "
        "(only a change of 3.11× or more would likely have been seen)."
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
    assert told.sentence.endswith("(only a change of 50.0 % or more would likely have been seen).")
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
        "No verdict: these captures can't be compared, because they differ in dtype (float32 against "
        "bfloat16) and weights (aa against nothing)."
    )
    assert told.tone == "refused"
    assert told.details[-1] == "For a verdict all the same, with this on the record: --allow dtype,weights."


@pytest.mark.parametrize("field", sorted(UNMENDABLE))
def test_what_leaves_nothing_to_compare_offers_no_way_out(field):
    """Beside it another difference could be allowed, and that would help nobody."""
    told = headline(
        change(verdict="incomparable"),
        eligible=False,
        differences=(forbidding("dtype", "a", "b"), forbidding(field, 3, 0)),
    )
    assert "--allow" not in " ".join(told.details)


def test_a_field_of_several_words_can_be_typed_as_it_is_offered():
    """Hyphens for spaces, which `--allow` takes."""
    told = headline(
        change(verdict="incomparable"),
        eligible=False,
        differences=(forbidding("requested output length", 16, 64),),
    )
    assert told.details[-1].endswith("--allow requested-output-length.")


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


def ratios(*logs: float):
    """Pairs of such log-ratios of A to B."""
    return tuple((seed, math.exp(value), 1.0) for seed, value in enumerate(logs))


def test_a_verdict_that_holds_only_by_itself_is_no_headline():
    """Six rows whose p is 0.03: each is worse alone, none of them together, and the sentence quotes no factor."""
    rows = [
        change(
            name,
            shared=shared,
            value=0.9,
            low=0.82,
            high=0.99,
            verdict="worse",
            pairs=ratios(0.13, 0.1, 0.07),
        )
        for name in ("ttft_p50", THROUGHPUT)
        for shared in (0, 1024, 4096)
    ]
    told = headline(*rows, modes=("on", "on"), where="")
    assert told.sentence == (
        "At 4,096 shared tokens time to first token and output throughput are worse only by themselves, not when all"
        " gated figures are judged together."
    )
    assert (told.tone, told.label) == ("neutral", "No difference that holds")
    assert (
        "Of 6 gated figures: 6 within noise; 6 of those within noise are better or worse only by themselves."
        in told.details
    )
    alone = headline(rows[0], modes=("on", "on"), where="")
    assert (alone.tone, alone.label) == ("worse", "Worse")


def test_a_control_that_holds_only_by_itself_is_no_cost():
    """Beside sure rows the control is judged with what level is left, and its clause says what it is."""
    rows = [
        change(),
        change(THROUGHPUT),
        change(shared=0, value=0.9, low=0.82, high=0.99, verdict="worse", pairs=ratios(0.14, 0.1, 0.06)),
        change(
            THROUGHPUT,
            shared=0,
            value=1.0,
            verdict="within-noise",
            detectable=0.05,
            pairs=ratios(0.02, 0.0, -0.02),
        ),
    ]
    told = headline(*rows, where="")
    assert told.sentence.endswith(
        "; at 0 shared tokens time to first token is worse only by itself, not when all gated figures are judged together;"
        " it cost nothing measurable (within noise; an effect of 5.0 % or more would likely have been seen)."
    )
    assert told.label == "Better"


def test_what_was_allowed_by_hand_stands_before_everything_else():
    """First detail and label: nobody reads the verdict without it."""
    told = headline(
        change(),
        allowed=("dtype",),
        differences=(replace(forbidding("dtype", "float32", "bfloat16"), overridden=True),),
    )
    assert told.label == "Better, differences allowed by hand"
    assert told.details[0] == (
        "Allowed by hand (--allow), though by itself it forbids a verdict: dtype (float32 against bfloat16). The factors"
        " hold only as far as this changes nothing."
    )


def test_a_cell_without_a_verdict_neither_leads_nor_hides() -> None:
    """The most reuse that there is a verdict on is told first; the label says that others are open."""
    open_ = [
        change(metric, shared=4096, value=None, verdict="undecided", reason="A has no run of this cell")
        for metric in HEADLINE_METRICS
    ]
    rows = [change(metric, shared=1024) for metric in HEADLINE_METRICS]
    told = headline(*rows, *open_)
    assert " at 1,024 shared tokens" in told.sentence
    assert (told.tone, told.label) == ("caution", "Better, partly undecided")
    assert (
        "At 4,096 shared tokens, time to first token is undecided: A has no run of this cell." in told.details
    )
    control = [change(metric, shared=0, value=1.0, verdict="within-noise") for metric in HEADLINE_METRICS]
    assert headline(*control, *open_).sentence.startswith("No verdict on time to first token")


def test_a_mixed_result_tells_both_sides_of_it() -> None:
    """The headline speaks of one cell; what is better in the others is told beside what is worse."""
    worse = change(shared=4096, value=0.5, low=0.45, high=0.55, verdict="worse")
    told = headline(worse, change(shared=1024))
    assert told.label == "Mixed"
    assert "2.00× longer" in told.sentence
    assert any(
        one.startswith("At 1,024 shared tokens: time to first token 24.1× shorter") for one in told.details
    )


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (0.10, "3 paired seeds, added until they were within ±10 % and drawn wider for it;"),
        (
            0.05,
            "3 paired seeds, added to bring them within ±5 %, which wasn't reached: the widest is ±8.0 %;",
        ),
    ],
)
def test_added_seeds_are_told_with_the_intervals(target, said):
    """Where seeds were added to narrow the intervals, the sentence about them says so, and whether it was reached."""
    rows = [change(metric, value=2.0, low=1.9, high=2.16) for metric in HEADLINE_METRICS]
    added = comparison(*rows)
    added = replace(added, a=replace(added.a, until=target))
    told = comparison_headline(added, "")
    assert any(said in detail for detail in told.details), told.details


def test_a_gain_without_reuse_is_none_of_the_cache() -> None:
    """The control cell gains as well: a large share of the factor isn't what reuse brings, and the label says so."""
    lead = [change(metric, value=24.1) for metric in HEADLINE_METRICS]
    large = [change(metric, shared=0, value=3.0, low=2.9, high=3.1) for metric in HEADLINE_METRICS]
    told = headline(*large, *lead)
    assert (told.tone, told.label) == ("caution", "Better, control failed")
    assert told.sentence.endswith("more than reuse differs between the arms.")
    small = [change(metric, shared=0, value=1.05, low=1.04, high=1.06) for metric in HEADLINE_METRICS]
    assert headline(*small, *lead).label == "Better"


@pytest.mark.parametrize(("verdict", "value"), [("better", 1.5), ("worse", 0.8)])
def test_a_sentence_without_a_verdict_has_no_label_with_one(verdict, value):
    """Only the control was judged, as runs of the other cell failed: neither green nor red, and in so many words."""
    told = headline(
        change(verdict="undecided", value=None, reason="no request was sent (A)"),
        change(shared=0, value=value, low=value - 0.05, high=value + 0.05, verdict=verdict),
    )
    assert told.sentence.startswith("No verdict on time to first token at 4,096 shared tokens")
    assert (told.tone, told.label) == ("caution", f"Undecided, {verdict} without reuse")


def test_serious_doubts_about_the_client_stand_beside_the_headline():
    """In the words of the first run that has them, with how many more; lesser ones are left to their caveat."""
    serious = Finding(CLIENT_LAG, "serious", "the client used 97 % of a core", "", place="A, seed 0")
    doubted = headline(change(), findings=(serious, serious, replace(serious, severity="warning")))
    assert (
        "The client may have set these figures, not the server: A, seed 0: the client used 97 % of a core (and 1 more"
        " such finding)."
    ) in doubted.details
    lesser = headline(change(), findings=(replace(serious, severity="warning"),))
    assert not any("client" in detail for detail in lesser.details)
