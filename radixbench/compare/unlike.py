"""Two sides' values of one thing, and the difference between them where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from radixbench.capture.model import Run
from radixbench.compare.arm import Arm
from radixbench.compare.change import Difference


def unlike(
    name: str, a: set[Any], b: set[Any], *, allowed: bool = True, where: str = ""
) -> Iterator[Difference]:
    """A difference where both sides are known and unlike; one unknown side is listed, but forbids nothing."""
    if a != b:
        yield Difference(name, _shown(a), _shown(b), allowed=allowed or not a or not b, where=where)


def unlike_per_run(name: str, a: Arm, b: Arm, value: Callable[[Run], Any]) -> Iterator[Difference]:
    """A difference between what the runs of either side say; ``None`` is a value of its own."""
    yield from unlike(
        name, {plain(value(one.run)) for one in a.runs}, {plain(value(one.run)) for one in b.runs}
    )


def unlike_fields(prefix: str, a: Any, b: Any, skip: set[str]) -> Iterator[Difference]:
    """Every field of two dataclasses that differs, nested ones and mappings by their path."""
    for field in fields(a):
        if field.name in skip:
            continue
        x, y, name = getattr(a, field.name), getattr(b, field.name), f"{prefix}.{field.name}"
        if is_dataclass(x) and is_dataclass(y):
            yield from unlike_fields(name, x, y, set())
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            for key in sorted(x.keys() | y.keys()):
                yield from unlike(f"{name}.{key}", {plain(x.get(key))}, {plain(y.get(key))})
        else:
            yield from unlike(name, {plain(x)}, {plain(y)})


def identities(arm: Arm, name: str) -> set[Any]:
    """What the servers of one side say they are in this respect; empty where none tells."""
    values = (one.run.server.identity.get(name) for one in arm.runs)
    return {plain(value) for value in values if value is not None}


def plain(value: Any) -> Any:
    """A value as something hashable that JSON can hold."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _shown(values: set[Any]) -> Any:
    """One value as itself, several as text, none as ``None``."""
    if len(values) <= 1:
        return next(iter(values), None)
    return ", ".join(sorted(str(value) for value in values))
