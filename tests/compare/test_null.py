"""A null test: known by its captures, silent in an honest machine, and told where the machine isn't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from radixbench.capture.model import Capture, Run
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.report.verdict import comparison_headline
from radixbench.scenario.model import Scenario
from tests.builders import arm_run, make_capture

NOISE = (1.0, 1.01, 0.995, 1.003, 0.999)
NULL = Scenario(name="test", modes=("off", "off"))


def null_test(b: Callable[[int], float] = lambda seed: 1.0, **changes: object) -> tuple[Capture, Capture]:
    """Both captures of one: A's TTFTs have some noise, B's are ``b`` times as long."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for seed, noise in enumerate(NOISE):
        for place in (0, 1):
            side = place if seed % 2 == 0 else 1 - place
            ttft_s = 0.1 * (noise if side == 0 else b(seed))
            order = 2 * seed + place
            runs[side].append(arm_run(seed=seed, mode="off", order=order, ttft_s=ttft_s, shared=64))
    a, b_ = (make_capture(one, **{"scenario": NULL, **changes}) for one in runs)
    return a, b_


def test_an_honest_machine_shows_nothing_but_its_noise() -> None:
    """Every gated row is within noise; the sentence names the spread of like runs and what seeds can show."""
    comparison = compare(*null_test())
    assert comparison.null_test
    assert to_document(comparison)["null_test"] is True
    gated = [row for row in comparison.changes if row.metric in {"ttft_p50", "output_throughput"}]
    assert {row.verdict for row in gated} == {"within-noise"}
    assert "null-failed" not in {caveat.code for caveat in comparison.caveats}
    told = comparison_headline(comparison, "tiny, cpu")
    assert told.label == "No difference seen"
    assert told.sentence.startswith(
        "Null test: the arm without reuse against itself, no difference seen; noise of this machine: like runs differ by 0.5"
    )
    assert "in time to first token and 0.3" in told.sentence
    assert "(standard deviation); 5 seeds can show ≥ 3." in told.sentence


def test_a_machine_that_differs_from_itself_is_told() -> None:
    """A serious caveat says by how much, and the sentence doesn't pass it for an improvement."""
    comparison = compare(*null_test(b=lambda seed: 1.2))
    (caveat,) = [one for one in comparison.caveats if one.code == "null-failed"]
    assert caveat.severity == "serious"
    assert "TTFT, median at 64 shared tokens is 20 % better in A" in caveat.text
    told = comparison_headline(comparison, "tiny, cpu")
    assert told.label == "Null test failed"
    assert told.tone == "worse"
    assert "shows time to first token 1.20× shorter" in told.sentence
    assert (
        "the machine or the two processes differ by that much, or this is one of the 5 % that fail"
        in told.sentence
    )


def test_other_captures_are_no_null_test() -> None:
    """Two runs of one arm, an arm of another sweep, and another host may differ for reasons of their own."""
    a, b = null_test()
    one_arm = replace(NULL, modes=("off",))
    elsewhere = replace(b.environment, host_id="elsewhere")
    later = tuple(replace(run, order=run.order + 10) for run in b.runs)
    for other in (replace(b, scenario=one_arm), replace(b, environment=elsewhere), replace(b, runs=later)):
        assert not compare(a, other).null_test
    assert not compare(a, make_capture([], scenario=NULL)).null_test


def test_too_few_seeds_say_nothing() -> None:
    """A null test of two seeds is undecided like any comparison."""
    a, b = null_test()
    comparison = compare(replace(a, runs=a.runs[:2]), replace(b, runs=b.runs[:2]))
    assert comparison.null_test
    assert comparison_headline(comparison, "").label == "Undecided"


def test_a_null_test_that_sees_nothing_says_so() -> None:
    """Where noise would hide all but a large effect, no difference is no comfort."""
    wild = (1.0, 1.5, 1.0, 0.5, 1.0)
    told = comparison_headline(compare(*null_test(b=lambda seed: wild[seed])), "")
    assert "no difference seen, too noisy to tell any but a large one" in told.sentence
    assert "oo noisy to tell" in told.label
