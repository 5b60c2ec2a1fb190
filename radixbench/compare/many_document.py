"""Several candidates and their reference as one JSON document: a compare document for each, and the gate over all of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from radixbench.compare.document import to_document
from radixbench.compare.many import Many
from radixbench.compare.many_gate import many_gate_document
from radixbench.compare.verdict import HEADLINE

SCHEMA = "radixbench.compare-many/1"


def many_document(
    many: Many, *, gate: tuple[str, ...] = HEADLINE, fail_on: Collection[str] | None = None
) -> dict[str, Any]:
    """The document of schema ``radixbench.compare-many/1``.

    In each of ``comparisons`` ``a`` is the candidate and ``b`` the reference; sentences in it call them by the letters
    in ``candidate`` and ``reference``. Its ``gate`` tells the candidate's own rows, judged among those of all.
    """
    return {
        "schema": SCHEMA,
        "reference": {"name": many.names[-1]} | asdict(many.reference),
        "threshold": many.threshold,
        "gate": many_gate_document(many, gate, fail_on),
        "comparisons": [
            to_document(one, gate=gate, fail_on=fail_on)
            | {"candidate": one.sides[0], "reference": one.sides[1]}
            for one in many.comparisons
        ],
        "caveats": [asdict(caveat) for caveat in many.caveats],
    }
