"""What the answers themselves say: empty, cut off, blank, short, of another model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from radixbench.capture.model import Run
from radixbench.findings.model import Finding
from radixbench.findings.words import listed, percent, several
from radixbench.metrics.answers import Answers
from radixbench.records import RequestRecord

_HALF = 0.5
_UNFINISHED_JSON = 0.2
BLANK = 0.9
_EARLY = 0.99


def content_findings(answers: Answers) -> Iterator[Finding]:
    """Everything about the answers' text, length and sender."""
    yield from _thought_away(answers)
    yield from _unfinished_json(answers)
    yield from _blank(answers)
    yield from _early(answers)
    yield from _renamed(answers.run)


def _thought_away(answers: Answers) -> Iterator[Finding]:
    """Reasoning ate the budget: nothing is left to answer, or for the next turn to share."""
    told = [one for one in answers.completed if one.content_chars is not None]
    empty = [one for one in told if one.content_chars == 0 and one.finish_reason == "length"]
    if told and len(empty) > _HALF * len(told):
        yield Finding(
            "empty-at-limit",
            "warning",
            f"{len(empty):,} of {several(len(told), 'answer')} end by length without any content: reasoning used up the"
            " output length",
            "raise the output length (--output-len), or switch thinking off (chat_template_kwargs: enable_thinking false)",
        )


def _unfinished_json(answers: Answers) -> Iterator[Finding]:
    json = [one for one in answers.completed if one.json_like]
    cut = [one for one in json if one.finish_reason == "length"]
    if json and len(cut) > _UNFINISHED_JSON * len(json):
        yield Finding(
            "unfinished-json",
            "warning",
            f"{len(cut):,} of {several(len(json), 'JSON answer')} ({percent(len(cut) / len(json))}) end by length, unfinished:"
            " a schema that allows anything never ends",
            "tighten the schema, or raise the output length (--output-len)",
        )


def _blank(answers: Answers) -> Iterator[Finding]:
    blank = [one.prompt for one in answers.completed if _blank_share(one) > BLANK]
    if blank:
        yield Finding(
            "blank-answers",
            "warning",
            f"{several(len(blank), 'answer')} ({listed(blank)}) of more than {percent(BLANK)} whitespace: tokens that say"
            " nothing, up to the limit",
            "look at the answers (--keep-text); a grammar that allows whitespace lets a model go on with it",
        )


def _blank_share(request: RequestRecord) -> float:
    chars = (request.content_chars or 0) + (request.reasoning_chars or 0)
    return 0.0 if not chars or request.blank_chars is None else request.blank_chars / chars


def _early(answers: Answers) -> Iterator[Finding]:
    known = [one for one in answers.timed if one.output_tokens is not None and one.requested_tokens > 0]
    asked = sum(one.requested_tokens for one in known)
    got = sum(one.output_tokens or 0 for one in known)
    if known and got < _EARLY * asked:
        short = sum((one.output_tokens or 0) < one.requested_tokens for one in known)
        yield Finding(
            "early-stops",
            "warning",
            f"{got:,} of {asked:,} requested tokens were generated: {several(short, 'answer')} of {len(known):,} stopped"
            " early, so the batch shrinks while it runs",
            "let the server ignore the end of text (ignore_eos), or look at the steady window's throughput",
        )


def renamed_between(runs: Sequence[Run]) -> Iterator[Finding]:
    """Runs of one capture that were answered by models of different names, each by one alone."""
    names = {frozenset(one.model for one in run.requests if one.model is not None) for run in runs}
    alone = sorted(name for found in names if len(found) == 1 for name in found)
    if len(alone) > 1:
        yield Finding(
            "model-renamed",
            "serious",
            f"the runs were answered by {len(alone)} models: {', '.join(repr(name) for name in alone)}",
            "another model was served from one run to the next: measure one server",
        )


def _renamed(run: Run) -> Iterator[Finding]:
    names = Counter(request.model for request in run.requests if request.model is not None)
    if len(names) > 1:
        told = ", ".join(f"{name!r} ({several(n, 'answer')})" for name, n in names.most_common())
        yield Finding(
            "model-renamed",
            "serious",
            f"the answers name {len(names)} models: {told}",
            "another model, or a router with several servers, answered part of the run: measure one server",
        )
    elif names and run.server.model not in names:
        yield Finding(
            "model-unlike",
            "warning",
            f"the answers name the model {next(iter(names))!r}, asked was {run.server.model!r}",
            "see that the server serves what was asked: an alias does no harm, another model does",
        )
