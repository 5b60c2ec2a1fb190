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
    assert list(document) == ["schema", "a", "b", "eligible", "threshold", "differences", "rows", "caveats"]
    assert document["schema"] == "radixbench.compare/1"
    assert document["a"]["path"] == "on.json"
    assert document["differences"] == [{"field": "mode", "a": "on", "b": "off", "allowed": True}]
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
    }
    assert row["cell"] == {"shared_tokens": 64}
    assert set(row["a"]) == {"value", "low", "high", "n_runs", "n_values"}
    assert set(row["factor"]) == {"value", "low", "high", "level"}
    assert row["factor"]["value"] == row["b"]["value"] / row["a"]["value"]
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
