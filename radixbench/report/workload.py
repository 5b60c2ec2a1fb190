"""The workload of a scenario in a line: what is asked, and how it is sent.

A size that is an axis of the sweep is told with all its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from radixbench.capture.model import Capture
from radixbench.report import text
from radixbench.report.cells import shown_value
from radixbench.report.corpus import corpus_name
from radixbench.scenario.model import LoadSpec, Scenario

_FILE_KINDS = frozenset({"conversations", "trace"})
_CONVERSATIONS = frozenset({"multi-turn", "agent"})
_PROCESSES = {
    "constant": "evenly spaced arrivals",
    "poisson": "Poisson arrivals",
    "gamma": "gamma arrivals",
}


def workload_words(capture: Capture) -> str:
    """``shared-prefix, 4 groups × 16 prompts, question 32, answer 16, closed loop at concurrency 8``."""
    scenario = capture.scenario
    kind = scenario.workload.kind
    asked = _of_file(capture) if kind in _FILE_KINDS else _of_sizes(scenario)
    return ", ".join([kind, *asked, *_sent(scenario), *_bounds(scenario.load)])


def _of_file(capture: Capture) -> Iterator[str]:
    spec = capture.scenario.workload
    corpus = next((run.corpus for run in capture.runs if run.corpus is not None), None)
    if corpus is not None:
        yield corpus_name(capture, corpus)
    else:
        yield PurePath(spec.file).name if spec.file else spec.dataset or "no file"
    if spec.limit is not None:
        yield f"at most {text.count(spec.limit)} items"
    if spec.output_len is not None:
        yield f"answer {text.count(spec.output_len)}"
    if spec.kind == "conversations":
        yield f"{spec.history} history"


def _of_sizes(scenario: Scenario) -> Iterator[str]:
    spec, grid = scenario.workload, scenario.grid
    if spec.turns is not None:
        turns = text.several([text.count(n) for n in spec.turns])
        yield f"{turns} {'turn' if spec.turns == (1,) else 'turns'}"
    groups = _values(grid.groups) or text.count(spec.groups)
    one, many = ("conversation", "conversations") if spec.kind in _CONVERSATIONS else ("prompt", "prompts")
    yield (
        f"{groups} {'group' if groups == '1' else 'groups'} × "
        f"{text.plural(spec.prompts_per_group, one, many)}"
    )
    if spec.distribution == "zipf":
        yield f"Zipf {spec.zipf_exponent:g}"
    for name, axis, value in (
        ("question", grid.question_len, spec.question_len),
        ("answer", grid.output_len, spec.output_len),
    ):
        lengths = _values(axis) or (None if value is None else text.count(value))
        if lengths is not None:
            yield f"{name} {lengths}"
    if spec.kind in _CONVERSATIONS:
        yield f"{spec.history} history"
    if spec.think_time_s:
        yield f"{text.duration(spec.think_time_s)} between turns"


def _values(axis: Sequence[int | float | str]) -> str:
    return text.several([shown_value(value) for value in axis])


def _sent(scenario: Scenario) -> Iterator[str]:
    load, grid = scenario.load, scenario.grid
    caps = _values(grid.max_concurrency) or (
        None if load.max_concurrency is None else text.count(load.max_concurrency)
    )
    if load.arrival == "closed":
        yield f"closed loop at concurrency {caps or '8'}"
        return
    if load.arrival == "trace":
        yield "open loop at the trace's own times" + (
            f", {load.speed:g} times as fast" if load.speed != 1 else ""
        )
    else:
        rates = _values(grid.request_rate) or (
            "an unknown rate" if load.request_rate is None else f"{load.request_rate:,.10g}"
        )
        process = _PROCESSES[load.arrival]
        shape = f" of shape {load.burstiness:g}" if load.arrival == "gamma" else ""
        yield f"open loop, {process}{shape} at {rates}/s"
    if caps is not None:
        yield f"at most {caps} at once"


def _bounds(load: LoadSpec) -> Iterator[str]:
    if load.num_prompts is not None:
        yield f"{text.count(load.num_prompts)} started at most"
    if load.duration_s is not None:
        yield f"started for {text.duration(load.duration_s)} at most"
