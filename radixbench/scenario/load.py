"""Strict YAML in, a frozen scenario out; flags override it through the same checks.

Nothing is guessed: unknown and repeated keys, YAML's silent booleans (``on``), numbers in quotes,
aliases and tags are refused in one line with file, line, key and remedy. Values are decoded by
pydantic in its strict JSON mode, over the plain dataclasses of ``model``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from radixbench.errors import ScenarioError
from radixbench.scenario.cells import SECTION_OF_AXIS, cells
from radixbench.scenario.check import first_problem
from radixbench.scenario.flags import FLAGS, Flag, FlagValue, refusal
from radixbench.scenario.longest import longest_request
from radixbench.scenario.model import Scenario
from radixbench.scenario.problem import KeyPath, Problem, key_text
from radixbench.scenario.resolve import refuse_gaps, resolve
from radixbench.scenario.typed import parse_int_list
from radixbench.scenario.unknown import nearest
from radixbench.scenario.wording import problem_of

__all__ = [
    "cells",
    "dump",
    "load",
    "longest_request",
    "override",
    "parse_int_list",
    "resolve",
    "shipped_names",
]

_SHIPPED = Path(__file__).parent / "scenarios"
_MAX_BYTES = 1 << 20
_MAX_DEPTH = 16
_DECIMAL = re.compile(r"[+-]?(0|[1-9][0-9_]{0,30})")

# A configuration spreads from a tuple to the dataclasses in it, so that the model needs to know none.
_STRICT = ConfigDict(extra="forbid", strict=True)
_ADAPTER: TypeAdapter[tuple[Scenario]] = TypeAdapter(tuple[Scenario], config=_STRICT)


def shipped_names() -> tuple[str, ...]:
    """The scenarios that come with radixbench, by the names ``load`` finds them under."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.yaml")))


def load(path_or_name: str | Path) -> Scenario:
    """The scenario of a file, or a shipped one by its bare name (``reference``).

    Raises ``ScenarioError`` with file, line and key for anything that isn't exactly a scenario.
    """
    path, label = _find(path_or_name)
    document = _Reader(label).read(_read_text(path, label))
    result = _decode(document.value, document.words)
    if isinstance(result, Problem):
        where = key_text(result.path) or "the file"
        line = document.line_of(result.path)
        raise ScenarioError(f"{label}:{line}: {where}: {result.text}", remedy=result.remedy)
    return result


def override(scenario: Scenario, **flags: FlagValue | None) -> Scenario:
    """A new scenario in which the flags that were given (not ``None``) win, ready to run.

    Flags carry the names of the command line with underscores (``shared``, ``max_concurrency``); those of
    ``FLAGS`` that read text may be text as typed. One value of a possible axis sets its key, several are
    the axis. Raises ``ScenarioError`` naming the flag, also for what is still missing.
    """
    document = dump(scenario)
    for name, value in flags.items():
        if value is None:
            continue
        flag = FLAGS[name]
        _put(document, flag, flag.value_of(value, name))
    result = _decode(document, {})
    if isinstance(result, Problem):
        raise refusal(result)
    refuse_gaps(result)
    return result


def _put(document: dict[str, Any], flag: Flag, value: FlagValue) -> None:
    """Set a key, or make an axis of it: then the key itself goes back to what it is when nobody sets it."""
    *parents, key = flag.key
    section = document
    for parent in parents:
        section = section[parent]
    if not flag.axis or isinstance(value, Mapping):
        section[key] = value
        return
    several = not isinstance(value, (str, int, float)) and len(value) > 1
    one = value if several or isinstance(value, (str, int, float)) else value[0]
    section[key] = _UNTOUCHED[SECTION_OF_AXIS[key]][key] if several else one
    document["grid"][key] = value if several else []


def dump(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain data, every key written out; what a capture keeps of it."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(scenario)))
    return plain


_UNTOUCHED = dump(Scenario(name="untouched"))


def _find(path_or_name: str | Path) -> tuple[Path, str]:
    """The file and what messages call it."""
    text = str(path_or_name)
    bare = isinstance(path_or_name, str) and re.fullmatch(r"[A-Za-z0-9_-]+", text) is not None
    names = shipped_names()
    if bare and text in names:
        return _SHIPPED / f"{text}.yaml", text
    path = Path(path_or_name)
    if text and "\0" not in text and path.exists():
        return path, text
    near = nearest(path.stem, names)
    remedy = f"did you mean the shipped scenario {near}?" if near else f"shipped ones: {', '.join(names)}"
    named = text or "an empty name"
    raise ScenarioError(f"{named}: there is no such {'scenario' if bare else 'file'}", remedy=remedy)


def _read_text(path: Path, label: str) -> str:
    try:
        with path.open("rb") as file:  # never more of it: a device may have no end
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ScenarioError(f"{label}: too large to be a scenario", remedy="name a scenario's YAML file")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(
            f"{label}: can't be read: {error.strerror}", remedy="name a readable YAML file"
        ) from error
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f"{label}: is not UTF-8 text (byte {error.start})", remedy="save it as UTF-8"
        ) from error


def _decode(value: Any, words: dict[KeyPath, str]) -> Scenario | Problem:
    """Plain data as a scenario, or the first thing wrong with it; an unknown key comes before its results."""
    try:
        scenario = _ADAPTER.validate_json(json.dumps([value]))[0]
    except ValidationError as error:
        found = error.errors(include_url=False)
        first = min(found, key=lambda item: item["type"] != "unexpected_keyword_argument")
        path: KeyPath = first["loc"][1:]
        return problem_of(first["type"], path, first["input"], first.get("ctx", {}), words.get(path))
    return first_problem(scenario) or scenario


@dataclass(slots=True)
class _Document:
    """Plain data, the line on which each key stands, and the text of YAML's booleans."""

    value: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    words: dict[KeyPath, str] = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the subset of YAML a scenario needs: mappings, lists, text, decimal numbers, true and false."""

    label: str

    def read(self, text: str) -> _Document:
        document = _Document()
        try:
            self._refuse_cleverness(text)
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            self._refuse_syntax(error)
        if node is None:
            raise ScenarioError(f"{self.label}: the file is empty", remedy="begin with `name: …`")
        document.value = self._plain(node, (), document)
        return document

    def _refuse_cleverness(self, text: str) -> None:
        """Aliases, tags and deep nesting, before any tree is built from them."""
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                self._fail(event, f"*{event.anchor}: aliases aren't read", "write the value out")
            if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)) and event.tag not in (
                None,
                "!",
            ):
                self._fail(event, f"{event.tag}: tags aren't read", "write plain values")
            if depth > _MAX_DEPTH:
                self._fail(event, "is nested too deeply to be a scenario", "name a scenario's YAML file")

    def _refuse_syntax(self, error: yaml.YAMLError) -> NoReturn:
        mark = getattr(error, "problem_mark", None)
        where = self.label if mark is None else f"{self.label}:{mark.line + 1}"
        parts = (getattr(error, name, None) for name in ("context", "problem", "reason"))
        problem = ", ".join(part for part in parts if part)
        raise ScenarioError(
            f"{where}: is not YAML: {problem}", remedy="check this line's indentation and quotes"
        )

    def _fail(self, event: Any, text: str, remedy: str) -> NoReturn:
        raise ScenarioError(f"{self.label}:{event.start_mark.line + 1}: {text}", remedy=remedy)

    def _plain(self, node: yaml.Node, path: KeyPath, document: _Document) -> Any:
        document.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, document)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*path, index), document) for index, item in enumerate(node.value)]
        return self._scalar(node, path, document)

    def _mapping(self, node: yaml.MappingNode, path: KeyPath, document: _Document) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._fail(key_node, "a key must be one word", "write `key: value`")
            key = str(key_node.value)
            here = (*path, key)
            if key in plain:
                first = document.lines[here]
                self._fail(
                    key_node, f"{key_text(here)}: stands there twice (first on line {first})", "keep one"
                )
            document.lines[here] = key_node.start_mark.line + 1
            plain[key] = self._plain(value_node, here, document)
        return plain

    def _scalar(self, node: yaml.Node, path: KeyPath, document: _Document) -> Any:
        text, kind = str(node.value), node.tag.rpartition(":")[2]
        if kind == "null":
            return None
        if kind == "bool":
            document.words[path] = text
            return yaml.SafeLoader.bool_values[text.lower()]
        if kind == "int" and _DECIMAL.fullmatch(text):
            return int(text)
        if kind == "float" and re.search("[0-9]", text) and ":" not in text:
            return float(text.replace("_", ""))
        return text
