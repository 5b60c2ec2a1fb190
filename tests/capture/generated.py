"""Captures of every shape the contract allows, for properties: any value of each field's type."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from radixbench.capture.model import Capture, PrefixNode, PromptTree, Run
from radixbench.records import RequestRecord

counts = st.integers(0, 2**63 - 1)
texts = st.text(max_size=6)
scalars = st.none() | st.booleans() | counts | st.floats(allow_nan=False, allow_infinity=False) | texts
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)

PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    int: counts,
    str: texts,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    Any: anything,
}


def tuples(values: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most).map(tuple)


def of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a field's type."""
    if hint in PLAIN:
        return PLAIN[hint]
    if is_dataclass(hint):
        return built(hint)
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Literal:
        return st.sampled_from(inner)
    if kind is tuple:
        return tuples(of_type(inner[0]))
    if kind is dict:
        return st.dictionaries(of_type(inner[0]), of_type(inner[1]), max_size=2)
    return st.one_of([of_type(item) for item in inner])


def built(kind: Any, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any value of a dataclass, every field drawn, defaults or not."""
    drawn = {name: of_type(hint) for name, hint in get_type_hints(kind).items() if name not in given}
    return st.builds(kind, **drawn, **given)


@st.composite
def prompt_trees(draw: st.DrawFn) -> PromptTree:
    """Trees whose nodes come after their parents."""
    size = draw(st.integers(1, 3))
    nodes = tuple(
        PrefixNode(
            draw(st.none() | st.integers(0, i - 1)) if i else None, draw(st.integers(1, 9)), draw(texts)
        )
        for i in range(size)
    )
    ends = st.none() | st.integers(0, size - 1)
    requests = draw(st.integers(1, 3))
    return PromptTree(
        nodes,
        tuple(draw(ends) for _ in range(requests)),
        tuple(draw(ends) for _ in range(requests)),
        tuple(sorted(draw(st.sets(st.integers(0, size - 1))))),
    )


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Runs whose lists belong together."""
    tree = draw(prompt_trees())
    stamps = draw(tuples(counts))
    request = built(
        RequestRecord,
        prompt=st.integers(0, len(tree.prompts) - 1),
        chunk_ns=st.just(stamps),
        chunk_tokens=st.just(tuple(1 for _ in stamps)),
    )
    requests = st.lists(request, max_size=2, unique_by=lambda one: one.prompt).map(tuple)
    return cast("Run", draw(built(Run, prompts=st.just(tree), requests=requests)))


def captures() -> st.SearchStrategy[Capture]:
    """Any capture that types and integrity allow."""
    return built(Capture, runs=tuples(runs()))
