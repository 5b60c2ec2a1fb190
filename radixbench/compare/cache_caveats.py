"""What both arms together say against a cell's figures: hits nobody tells of, a control that differs, answers that do."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.compare.change import Change
from radixbench.compare.equality import equality
from radixbench.compare.pairing import CellPairs
from radixbench.compare.untold import untold_hits
from radixbench.compare.verdict import HEADLINE
from radixbench.findings.cell import cell_name
from radixbench.findings.model import Finding
from radixbench.metrics.registry import METRICS

CONTROL_SHARE = 0.01


_NEAR_TIES = 0.05
"""The share of answers that may part at a near-tie of two logits; a wrong slot parts far more."""


def control_findings(cell: CellPairs, changes: tuple[Change, ...]) -> Iterator[Finding]:
    """A cell without anything to reuse shows a difference between cache on and off all the same."""
    if not _is_control(cell):
        return
    for change in changes:
        if change.metric not in HEADLINE or change.factor is None:
            continue
        if change.verdict not in {"better", "worse"}:
            continue
        yield Finding(
            code="control-failed",
            severity="warning",
            text=(
                f"{cell_name(cell.key)}: nothing to reuse, yet {METRICS[change.metric].title} differs by a factor of"
                f" {change.factor.value:.3f} beyond the spread of the seeds"
            ),
            remedy=(
                "it is the cost of caching, or the arms differ in more than the cache: look at the"
                " differences, then rerun with more seeds"
            ),
            cell=cell.key,
            metrics=frozenset({change.metric}),
        )


def untold_findings(cell: CellPairs) -> Iterator[Finding]:
    """Pairs set aside since one arm was faster than the other can compute."""
    for pair in cell.set_aside:
        why = untold_hits(pair.a, pair.b)
        if why is not None:
            yield Finding(
                code="untold-hits",
                severity="serious",
                text=f"{cell_name(cell.key)}, seed {pair.seed}: {why}; the pair is set aside",
                remedy=(
                    "the cache held these prompts before the run: restart the server, or let it report cached tokens to"
                    " see where they come from"
                ),
                cell=cell.key,
            )


def _is_control(cell: CellPairs) -> bool:
    """Arms of different modes, and prompts that share next to nothing."""
    if not cell.pairs:
        return False
    for pair in cell.pairs:
        if pair.a.run.mode == pair.b.run.mode:
            return False
        for one in pair.runs:
            account = one.summary.cache
            if account.prompt_tokens is None:
                return False
            if account.expected_high > CONTROL_SHARE * account.prompt_tokens:
                return False
    return True


def output_findings(cell: CellPairs) -> Iterator[Finding]:
    """Greedy answers of both arms, token by token."""
    for pair in cell.all_pairs:
        outputs = equality(pair.a.run, pair.b.run)
        if not outputs.unlike:
            continue
        exact = all(one.run.server.identity.get("dtype") == "float32" for one in pair.runs)
        yield Finding(
            code="output-mismatch",
            severity="serious" if exact and outputs.unlike > _NEAR_TIES * outputs.compared else "warning",
            text=(
                f"{cell_name(cell.key)}, seed {pair.seed}: {outputs.unlike} of {outputs.compared} greedy answers differ"
                f" between {' and '.join(cell.sides)}, the earliest at token {outputs.first}"
            ),
            remedy=(
                "in float32 only a near-tie may part, which rounding decides otherwise over a cached prefix; more than"
                " a few are a fault of the engine: report it"
                if exact
                else "run in float32 to tell rounding from a fault; in half precision near-ties part"
            ),
            cell=cell.key,
        )
