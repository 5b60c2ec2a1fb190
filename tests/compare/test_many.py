"""Several candidates against one reference: each by its own evidence, all of them as one claim."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.compare.gate import gated, judged
from radixbench.compare.many import MAX_CAPTURES, Many, compare_many
from radixbench.compare.many_document import many_document
from radixbench.compare.many_gate import many_conclusion, many_gate, many_gate_document, many_withdrawn
from radixbench.errors import UsageError
from radixbench.scenario.goodput import parse_goodput
from tests.builders import make_capture, make_sweep
from tests.compare.several import NOISE, PATHS, capture, four, other_model

TTFT = ("ttft_p50",)


def found(*captures: object, **options: object) -> Many:
    """Captures compared, without paths."""
    return compare_many(captures, [None] * len(captures), **options)


def verdicts(many: Many, metric: str = "ttft_p50") -> dict[str, str | None]:
    """The gated verdict of a metric for each candidate, of the first cell."""
    return {
        c.sides[0]: next(r.verdict for r in gated(c, (metric,)) if r.metric == metric)
        for c in many.comparisons
    }


def test_the_last_is_the_reference_of_all_others() -> None:
    """Letters go by the order given; each candidate has a verdict of its own, a foreign one none."""
    many = compare_many(four(), PATHS)
    assert many.names == ("A", "B", "C", "D")
    assert [c.sides for c in many.comparisons] == [("A", "D"), ("B", "D"), ("C", "D")]
    assert [c.a.path for c in many.comparisons] == list(PATHS[:3])
    assert {c.b.path for c in many.comparisons} == {many.reference.path} == {"main.json"}
    assert verdicts(many) == {"A": "better", "B": "incomparable", "C": "worse"}
    assert [c.eligible for c in many.comparisons] == [True, False, True]


def test_one_candidate_is_compared_as_ever() -> None:
    """Two captures give the document that ``compare`` gives, letters and all."""
    pair = make_sweep(on=0.5)
    (alone,) = found(*pair).comparisons
    assert to_document(alone) == to_document(compare(*pair))


def test_each_candidates_figures_are_those_of_its_own_comparison() -> None:
    """Company changes no figure and no row's own verdict: only what holds of all together."""
    fast, _, slow, main = four()
    many = found(fast, slow, main)
    for one, alone in zip(many.comparisons, (fast, slow), strict=True):
        pair = compare(alone, main)
        bare = [replace(change, reason=None, caveats=()) for change in one.changes]
        assert bare == [replace(change, reason=None, caveats=()) for change in pair.changes]


def test_holm_counts_the_rows_of_all_candidates() -> None:
    """p of 0.03 makes one candidate worse; the same beside five like it is no news among six."""
    noisy = [capture(lambda s, k=k: (1.1 + k / 1e6) * NOISE[s]) for k in range(6)]
    main = capture(1.0)
    assert verdicts(found(noisy[0], main)) == {"A": "worse"}
    many = found(*noisy, main)
    assert {c.changes[0].verdict for c in many.comparisons} == {"worse"}
    assert set(verdicts(many).values()) == {"within-noise"}
    ps = [one.p_holm for c in many.comparisons for one in judged(c, TTFT)]
    assert all(p is not None and p > 0.05 for p in ps)
    assert many_gate(many, {"worse"}, TTFT) == ()
    assert {one.name for one in many_withdrawn(many, {"worse"}, TTFT)} == set("ABCDEF")


def test_a_candidate_that_cant_be_compared_takes_no_part_in_the_family() -> None:
    """Its rows have no p: the others are judged as if it weren't there."""
    fast, other, slow, main = four()
    with_it, without = found(fast, other, slow, main), found(fast, slow, main)
    for many in (with_it, without):
        many_gate_document(many)
    assert [one.p_holm for one in judged(with_it.comparisons[0])] == [
        one.p_holm for one in judged(without.comparisons[0])
    ]


def test_the_gate_names_the_candidates() -> None:
    """Which rows fail, of whom, and who couldn't be judged."""
    many = found(*four())
    assert {(one.name, one.change.metric) for one in many_gate(many, {"worse"})} == {
        ("C", "ttft_p50"),
        ("C", "output_throughput"),
    }
    assert many_conclusion(many, {"worse"}) == "failed for C on ttft_p50, output_throughput"
    fast, other, _, main = four()
    told = many_conclusion(found(fast, other, main), {"worse"})
    assert told.startswith(
        "nothing worse was shown on ttft_p50, output_throughput; 2 of 4 gated rows incomparable"
    )
    assert told.endswith("; not all of B could be judged")
    assert many_conclusion(found(fast, capture(0.9), main), {"worse"}).startswith("passed on ttft_p50")
    with pytest.raises(UsageError, match="no verdict is called worst"):
        many_gate(many, {"worst"})


def test_the_document_holds_a_compare_document_for_each() -> None:
    """Plain JSON: schema, reference, the gate over all with each row's candidate, and every comparison by its letters."""
    many = compare_many(four(), PATHS)
    document = json.loads(json.dumps(many_document(many, fail_on=("worse",)), allow_nan=False))
    assert document["schema"] == "radixbench.compare-many/1"
    assert document["reference"]["name"] == "D"
    assert document["reference"]["path"] == "main.json"
    gate = document["gate"]
    assert (gate["verdict"], gate["failed"], gate["fail_on"]) == ("mixed", True, ["worse"])
    assert [row["candidate"] for row in gate["rows"]] == ["A", "A", "B", "B", "C", "C"]
    for one, comparison in zip(document["comparisons"], many.comparisons, strict=True):
        assert one["schema"] == "radixbench.compare/1"
        assert (one["candidate"], one["reference"]) == comparison.sides
        assert len(one["rows"]) == len(comparison.changes)
        own = [row for row in gate["rows"] if row["candidate"] == one["candidate"]]
        assert [{"candidate": one["candidate"]} | row for row in one["gate"]["rows"]] == own
    assert {caveat["code"] for caveat in document["caveats"]} >= {"random-weights", "clock-unknown"}


def test_caveats_are_told_once_and_name_whom_they_concern() -> None:
    """What all share is one sentence; what one pair says alone names the pair; letters are the captures' own."""
    short = capture(1.2, seeds=2)
    many = found(capture(0.5), short, capture(1.0))
    told = {caveat.code: caveat.text for caveat in many.caveats}
    assert len(told) == len(many.caveats)
    assert told["clock-unknown"].startswith("A, B and C: ")
    assert told["too-few-runs"] == "B against C: 64 shared tokens: 2 pairs of runs"
    assert many.concerned("too-few-runs") == ("B",)
    assert many.concerned("clock-unknown") == ("A", "B")


def test_sentences_call_captures_by_their_letters() -> None:
    """Whatever is said of B against C calls nobody A, and C never B."""
    lacking = capture(0.9, shared=(32, 64))
    many = found(capture(0.5, shared=(32, 64)), replace(lacking, runs=lacking.runs[:3]), capture(1.0))
    told = many.comparisons[1]
    said = [*(caveat.text for caveat in told.caveats), *(f"{change.reason}" for change in told.changes)]
    assert any(text.startswith("C has no run of this cell") for text in said)
    assert any(re.search(r"\bB and C: ", text) for text in said)
    assert not [text for text in said if re.search(r"\bA(:|,| and| against| has| always)", text)]


def test_a_field_is_allowed_where_it_stands_in_the_way() -> None:
    """Only B needs it, and only B says that it was overridden; a field that nobody needs is told by all."""
    many = found(*four(), allow=["weights_sha256"])
    assert [c.allowed for c in many.comparisons] == [(), ("weights_sha256",), ()]
    assert many.concerned("allow-needless") == ()
    assert verdicts(many)["B"] == "better"
    assert found(*four(), allow=["dtype"]).concerned("allow-needless") == ("A", "B", "C")
    with pytest.raises(UsageError, match="no difference is called that"):
        found(*four(), allow=["weight"])


def test_numbers_of_captures_that_make_no_table_are_refused() -> None:
    """One has nothing to be compared with, nine can't be told apart."""
    with pytest.raises(UsageError, match="needs two captures"):
        found(capture())
    with pytest.raises(UsageError, match=f"9 captures given, and at most {MAX_CAPTURES}"):
        found(*[capture()] * 9)


def test_options_hold_for_all() -> None:
    """One threshold, and goodput by the targets of the command line."""
    many = found(
        capture(0.95), capture(1.05), capture(1.0), threshold=0.1, goodput=parse_goodput("ttft:2000")
    )
    assert {c.threshold for c in many.comparisons} == {many.threshold} == {0.1}
    assert set(verdicts(many).values()) == {"within-noise"}
    assert all(any(row.metric == "goodput" for row in c.changes) for c in many.comparisons)


def test_captures_without_runs_are_told_not_hidden() -> None:
    """An interrupted candidate, and one that is empty as the reference is."""
    empty = make_capture([])
    many = found(capture(), empty, capture(1.5))
    assert verdicts(many) == {"A": "better", "B": "incomparable"}
    assert many_document(found(empty, other_model(), empty))["gate"]["verdict"] == "incomparable"
