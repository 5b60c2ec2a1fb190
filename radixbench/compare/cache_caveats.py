"""What both arms together say against a cell's figures: hits nobody tells of, a control that differs, answers that do."""

from __future__ import annotations

from collections.abc import Iterator

from radixbench.compare.change import Change
from radixbench.compare.pairing import CellPairs, Pair
from radixbench.compare.untold import untold_hits
from radixbench.compare.verdict import HEADLINE
from radixbench.findings.cell import cell_name
from radixbench.findings.model import Finding

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
                f"{cell_name(cell.key)}: nothing to reuse, yet {change.metric} differs by a factor of"
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
        compared, unlike, first = _unlike(pair)
        if not unlike:
            continue
        exact = all(one.run.server.identity.get("dtype") == "float32" for one in pair.runs)
        yield Finding(
            code="output-mismatch",
            severity="serious" if exact and unlike > _NEAR_TIES * compared else "warning",
            text=(
                f"{cell_name(cell.key)}, seed {pair.seed}: {unlike} of {compared} greedy answers differ"
                f" between A and B, the earliest at token {first}"
            ),
            remedy=(
                "in float32 only a near-tie may part, which rounding decides otherwise over a cached prefix; more than"
                " a few are a fault of the engine: report it"
                if exact
                else "run in float32 to tell rounding from a fault; in half precision near-ties part"
            ),
            cell=cell.key,
        )


def _unlike(pair: Pair) -> tuple[int, int, int | None]:
    answers = [{r.prompt: r for r in one.run.requests if r.status == "completed"} for one in pair.runs]
    compared, divergences = 0, []
    for prompt in answers[0].keys() & answers[1].keys():
        a, b = answers[0][prompt].output_ids, answers[1][prompt].output_ids
        if a is None or b is None:
            continue
        compared += 1
        if a != b:
            divergences.append(_first_divergence(a, b))
    return compared, len(divergences), min(divergences, default=None)


def _first_divergence(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """The first index at which the answers differ; the shorter's length where it begins the longer."""
    unlike = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(unlike, min(len(a), len(b)))
