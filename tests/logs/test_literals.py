"""Values as Python and JSON print them, whole and cut, with what users put into them."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radixbench.logs.literals import Fields, end_of_value, read_literal

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.booleans(), inner, max_size=4)
    ),
    max_leaves=12,
)
JSON_VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_python_prints_is_read_back(value: Any) -> None:
    """Any nesting of lists, tuples and dictionaries, any text."""
    assert read_literal(repr(value)) == value


@given(VALUES.filter(lambda value: "inf" not in repr(value)))
def test_it_is_what_python_itself_reads(value: Any) -> None:
    """The same as evaluating the literal, types included."""
    assert repr(read_literal(repr(value))) == repr(ast.literal_eval(repr(value)))


@pytest.mark.parametrize("ascii_only", [True, False])
@given(value=JSON_VALUES)
def test_what_json_prints_is_read_back(value: Any, ascii_only: bool) -> None:
    """Escapes in pairs, too."""
    assert read_literal(json.dumps(value, ensure_ascii=ascii_only)) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("nan", None),
        ("null", None),
        ("-inf", float("-inf")),
        ("1e-05", 1e-05),
        ("+7", 7),
        ("<Mode.FAST: 'fast'>", "fast"),
        ("<Mode.FAST: 3>", 3),
        ("<object at 0x7f00>", "<object at 0x7f00>"),
        ("<class 'int'>", "<class 'int'>"),
        ("torch.bfloat16", "torch.bfloat16"),
        ("PosixPath('/models/a')", "/models/a"),
        ("device(type='cuda', index=0)", {"type": "cuda", "index": 0}),
        ("Counter({'a': 1})", {"a": 1}),
        ("Point(1, 2)", "Point(1, 2)"),
        ("set()", "set()"),
        ("{'b', 'a'}", ["b", "a"]),
        ("(1)", 1),
        ("(1,)", (1,)),
        ("b'ab'", "b'ab'"),
        ("'begin' ... \"it's the end\"", "begin ... it's the end"),
        ("[1, 2] ... [8, 9]", "[1, 2] ... [8, 9]"),
        (r"'\ud800'", r"\ud800"),
        (r"'\q\x41\U0001f600'", "\\qA\U0001f600"),
        ("[1, 2", "[1, 2"),
        ("{1: 2}}", "{1: 2}}"),
        ("{1: [2]", "{1: [2]"),
        ("9" * 400, "9" * 400),
        ("", ""),
    ],
)
def test_what_is_no_plain_literal(raw: str, value: Any) -> None:
    """Enum members, calls and objects, and text that only looks like a literal."""
    assert read_literal(raw) == value


def test_too_deep_a_value_stays_text() -> None:
    """A bracket costs no stack."""
    raw = "[" * 100_000 + "]" * 100_000
    inner = read_literal(raw)
    for _ in range(20):
        (inner,) = inner
    assert isinstance(inner, str)


@pytest.mark.parametrize(
    "text",
    ["'open", '"open', "[1, 2", "(a='x'", "12", "word", "[1, 'it\\'s", "", "{'a': {'b': 1}"],
)
def test_a_value_that_breaks_off_has_no_end(text: str) -> None:
    """A word at the end may have had more letters."""
    assert end_of_value(text, 0) is None


@given(st.text(alphabet="ab'\"\\()[]{},: "))
def test_an_end_is_in_the_text(text: str) -> None:
    """Whatever the quotes and brackets do."""
    end = end_of_value(text, 0)
    assert end is None or 0 <= end <= len(text)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, max_size=6))
def test_fields_are_found_at_their_own_level(values: dict[str, Any]) -> None:
    """The names of nested values aren't taken for names of this level."""
    text = "Call(" + ", ".join(f"{name}={value!r}" for name, value in values.items()) + "), tail=1"
    fields = Fields(text, len("Call("))
    assert {f.name: read_literal(text[f.start : f.end]) for f in fields} == values
    assert fields.closed
    assert text[fields.end :] == ", tail=1"
