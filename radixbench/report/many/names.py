"""What captures are called beside one another: a letter each, and the shortest words that tell their files apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from radixbench.capture.output import SUFFIXES

_LONGEST = 32


def labels(paths: Sequence[str | None]) -> tuple[str, ...]:
    """The files' names without their endings, with as many folders before them as make them unlike; "" where unknown."""
    parts = [() if path is None else _parts(path) for path in paths]
    depth = 1
    while depth < max(map(len, parts), default=0) and len({one[-depth:] for one in parts}) < len(parts):
        depth += 1
    return tuple(_short("/".join(one[-depth:])) for one in parts)


def _parts(path: str) -> tuple[str, ...]:
    *folders, name = PurePath(path).parts or ("",)
    ending = next((ending for ending in SUFFIXES if name.endswith(ending)), "")
    return (*folders, name.removesuffix(ending) or name)


def _short(label: str) -> str:
    """The end of a long name tells more than its beginning."""
    return label if len(label) <= _LONGEST else f"…{label[1 - _LONGEST :]}"
