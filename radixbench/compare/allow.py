"""Differences that a reader allows by name, on the record: the verdict is given, and what was overridden is told with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from radixbench.compare.change import Difference
from radixbench.compare.eligible import FORBIDDING, UNMENDABLE, in_words
from radixbench.errors import UsageError
from radixbench.findings.model import Finding

_PATHS = ("server.", "scenario.", "environment.", "GPU.")
"""How the fields begin that only listed differences have."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """``differences`` with those overridden that were allowed, ``names`` of these, and ``needless`` ones that weren't needed."""

    differences: tuple[Difference, ...]
    names: tuple[str, ...]
    needless: tuple[str, ...]


def allow(found: Sequence[Difference], fields: Iterable[str]) -> Allowed:
    """The differences with the named ones overridden.

    A field is named as in ``differences``, whatever its case, with ``-`` or ``_`` for a space if need be. Raises
    ``UsageError`` for a name that no field has, and for a difference that leaves nothing to compare.
    """
    asked = dict.fromkeys(field for field in map(str.strip, fields) if field)
    known = {_key(name): name for name in (*FORBIDDING, *UNMENDABLE, *(one.field for one in found))}
    names, needless = [], []
    for field in asked:
        name = known.get(_key(field))
        if name is None:
            if not field.startswith(_PATHS):
                raise _unknown(field, found, known)
            needless.append(field)
        elif name in UNMENDABLE and any(one.field == name for one in found):
            raise UsageError(
                f"--allow {field}: without it there is nothing to compare", remedy="measure both sides alike"
            )
        elif any(one.field == name and not one.allowed for one in found):
            names.append(name)
        else:
            needless.append(name)
    overridden = tuple(
        replace(one, overridden=True) if one.field in names and not one.allowed else one for one in found
    )
    return Allowed(overridden, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(needless)))


def meant_for(found: Sequence[Difference], fields: Iterable[str]) -> tuple[str, ...]:
    """The named fields of which a difference here forbids a verdict."""
    forbidding = {_key(one.field) for one in found if not one.allowed}
    return tuple(field for field in fields if _key(field) in forbidding)


def allow_findings(allowed: Allowed) -> Iterator[Finding]:
    """What was overridden, and what was allowed without need."""
    told = [in_words(one) for one in allowed.differences if one.overridden]
    if told:
        yield Finding(
            "allowed-by-hand",
            "serious",
            f"allowed by hand, though by itself it forbids a verdict: {'; '.join(told)}",
            "the factors hold only as far as this changes nothing: compare captures that are alike in it to be sure",
        )
    if allowed.needless:
        yield Finding(
            "allow-needless",
            "info",
            f"--allow {', '.join(allowed.needless)} changed nothing: there it needs no allowance",
            "leave it out, so that it hides no difference of tomorrow",
        )


def _unknown(field: str, found: Sequence[Difference], known: dict[str, str]) -> UsageError:
    forbid = [one.field for one in found if one.forbids and one.field not in UNMENDABLE]
    near = get_close_matches(_key(field), known, n=1)
    hint = (
        f"did you mean {known[near[0]]!r}?"
        if near
        else f"what forbids a verdict here: {', '.join(forbid)}"
        if forbid
        else "nothing here forbids a verdict"
    )
    return UsageError(f"--allow {field}: no difference is called that", remedy=hint)


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())
