"""The compare document: its exact keys, and nothing JSON can't hold."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from radixbench.compare.change import Factor
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from tests.builders import make_sweep


def test_keys_of_the_document() -> None:
    """The contract that scripts read."""
    document = to_document(compare(*make_sweep(), a_path="on.json"))
    assert list(document) == [
        "schema",
        "a",
        "b",
        "eligible",
        "null_test",
        "threshold",
        "differences",
        "allowed",
        "gate",
        "rows",
        "clocks",
        "laws",
        "caveats",
    ]
    assert document["schema"] == "radixbench.compare/1"
    assert document["a"]["path"] == "on.json"
    assert document["differences"] == [
        {"field": "mode", "a": "on", "b": "off", "allowed": True, "overridden": False, "where": ""}
    ]
    row = document["rows"][0]
    assert set(row) == {
        "cell",
        "metric",
        "unit",
        "better",
        "a",
        "b",
        "factor",
        "difference",
        "verdict",
        "detectable",
        "bound",
        "reason",
        "caveats",
        "power",
    }
    assert row["cell"] == {"shared_tokens": 64}
    assert set(row["a"]) == {"value", "low", "high", "n_runs", "n_values"}
    assert set(row["factor"]) == {"value", "low", "high", "level"}
    assert row["factor"]["value"] == row["b"]["value"] / row["a"]["value"]
    assert set(row["power"]) == {"n_pairs", "spread", "detectable", "chance", "with_pairs"}
    assert set(row["power"]["chance"][0]) == {"effect", "chance"}
    assert set(row["power"]["with_pairs"][0]) == {"n_pairs", "detectable"}
    assert set(document["caveats"][0]) == {"code", "severity", "text", "remedy"}


def test_round_trips_as_strict_json() -> None:
    """No NaN, no infinity, no Python-only value, however little there is to say."""
    for arms in (make_sweep(), make_sweep(seeds=1)):
        document = to_document(compare(*arms))
        assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_numbers_out_of_range_are_null() -> None:
    """A factor beyond floating point is no number."""
    comparison = compare(*make_sweep())
    wild = replace(comparison.changes[0], factor=Factor(math.inf, math.nan, None, 0.95))
    document = to_document(replace(comparison, changes=(wild,)))
    assert document["rows"][0]["factor"] == {"value": None, "low": None, "high": None, "level": 0.95}


def test_missing_figures_have_reasons() -> None:
    """Wherever a value is null, the row says why."""
    on, off = make_sweep()
    silent = replace(
        on,
        runs=tuple(
            replace(r, requests=tuple(replace(q, cached_tokens=None) for q in r.requests)) for r in on.runs
        ),
    )
    rows = to_document(compare(silent, off))["rows"]
    missing = [row for row in rows if row["a"]["value"] is None]
    assert {"hit_rate", "cached_tokens", "prefill_throughput"} <= {row["metric"] for row in missing}
    assert all(row["reason"] for row in missing)


def test_the_gate_judges_its_rows_together_beside_their_own_verdicts() -> None:
    """Rows keep what they are by themselves; what a gate may say stands in the gate, conclusion included."""
    noise = (1.0, 1.03, 0.98)
    comparison = compare(*make_sweep(on=lambda s: 1.1 * noise[s], off=1.0, shared=(0, 16, 32)))
    gate = to_document(comparison, fail_on=("worse",))["gate"]
    assert list(gate) == [
        "metrics",
        "correction",
        "level",
        "verdict",
        "rows",
        "fail_on",
        "failed",
        "conclusion",
    ]
    assert (gate["metrics"], gate["correction"], gate["level"]) == (
        ["ttft_p50", "output_throughput"],
        "holm",
        0.05,
    )
    assert (gate["verdict"], gate["failed"], gate["fail_on"]) == ("within-noise", False, ["worse"])
    assert [one["cell"]["shared_tokens"] for one in gate["rows"]] == [0, 0, 16, 16, 32, 32]
    for one in gate["rows"]:
        assert (one["by_itself"], one["verdict"]) == ("worse", "within-noise")
        assert one["p"] <= 0.05 < one["p_holm"] <= 1.0
        assert one["reason"] == "doesn't hold when all gated rows are judged together"
    assert to_document(comparison)["gate"]["conclusion"] is None
    alone = to_document(comparison, gate=("duration",))["gate"]
    assert {one["metric"] for one in alone["rows"]} == {"duration"}
