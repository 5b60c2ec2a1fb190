"""Where a model's files are: a name becomes a directory.

A catalogued name, a ``.gguf`` file and a hub id all end as a plain model directory, so there is one way to load.
Of a hub model the small files come first: a model that can't be served is refused before
its weights are downloaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)

from radixbench.errors import ModelError
from radixbench.model import catalog
from radixbench.model.catalog import OnNote
from radixbench.model.convert import convert, converted

_SMALL = ["*.json", "*.model", "*.txt", "*.jinja", "*.py", "*.tiktoken"]
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def locate(name: str, on_note: OnNote) -> Path:
    """The directory of ``name``'s configuration and tokenizer. Raises ``ModelError``."""
    if catalog.is_known(name):
        found = catalog.fetch(name, on_note)
        assert found is not None, "tiny is built, not located"
        return found
    path = Path(name).expanduser()
    if name.endswith(".gguf"):
        return _from_gguf(path, on_note)
    if path.is_dir() or _looks_like_path(name):
        return _existing(path)
    if not _HUB_ID.fullmatch(name):
        raise catalog.unknown(name)
    return _snapshot(name, _SMALL)


def with_weights(name: str, directory: Path, on_note: OnNote) -> Path:
    """The directory with its weights: of a hub model they are downloaded now."""
    if catalog.is_known(name) or name.endswith(".gguf") or Path(name).expanduser().is_dir():
        return directory
    on_note(f"fetching the weights of {name} from the hub, unless they are cached")
    found = _snapshot(name, [*_SMALL, "*.safetensors"])
    if not any(found.glob("*.safetensors")):
        found = _snapshot(name, [*_SMALL, "pytorch_model*.bin"])
    return found


def _from_gguf(path: Path, on_note: OnNote) -> Path:
    if not path.is_file():
        raise ModelError(f"no file at {path}", remedy="check the path")
    target = converted(path)
    if not target.is_dir():
        on_note(f"converting {path.name} (once) into {target}")
        convert(path, target)
    return target


def _existing(path: Path) -> Path:
    if path.is_dir():
        return path
    what = "is a file, not a model directory" if path.exists() else "doesn't exist"
    raise ModelError(f"model directory {path} {what}", remedy="check the path")


def _looks_like_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~")) or name.count("/") > 1 or os.sep in name[-1:]


def _snapshot(name: str, patterns: list[str]) -> Path:
    return Path(_told_clearly(name, lambda: snapshot_download(name, allow_patterns=patterns)))


def _told_clearly(name: str, download: Callable[[], str]) -> str:
    offline = (
        "use a local directory, a .gguf file, smollm2-135m or tiny, or download it where there is a network"
    )
    try:
        return download()
    except GatedRepoError as error:
        raise ModelError(
            f"hub model {name!r} is gated", remedy="accept its terms on the hub and log in"
        ) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise ModelError(
            f"no model {name!r} on the hub, and no such directory",
            remedy="check the name; a private one needs a login",
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"model {name!r} isn't in the hub cache and the hub can't be reached", remedy=offline
        ) from error
