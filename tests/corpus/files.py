"""Small files in the forms that recorded traffic comes in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Item = dict[str, Any]


def said(*texts: str | None, first: str = "human", own: str = "a") -> Item:
    """A ShareGPT item whose speakers take turns."""
    other = "gpt" if first == "human" else "human"
    turns = [{"from": (first, other)[place % 2], "value": text} for place, text in enumerate(texts)]
    return {"id": own, "conversations": turns}


def messages(*pairs: tuple[str, Any], **more: Any) -> Item:
    """An item of OpenAI messages."""
    return {"messages": [{"role": role, "content": content} for role, content in pairs], **more}


def array(path: Path, items: Sequence[Any], cut: int = 0) -> Path:
    """An indented JSON array, as ShareGPT's is; the last ``cut`` characters are left out."""
    text = json.dumps(items, indent=2)
    path.write_text(text[: len(text) - cut])
    return path


def lines(path: Path, items: Sequence[Any]) -> Path:
    """One item per line; text goes in as it is."""
    path.write_text("".join(f"{item if isinstance(item, str) else json.dumps(item)}\n" for item in items))
    return path


def wheel(path: Path, items: Sequence[Any], cut: int = 0) -> Path:
    """A wheel that carries an array among its own files."""
    inner = array(path.with_suffix(".tmp"), items, cut)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pkg/__init__.py", "")
        archive.writestr("pkg/small.json", "{}")
        archive.write(inner, "pkg/data/ShareGPT.json")
    return path


def row(timestamp: float, tokens: int, ids: Sequence[Any], output: int = 5, **more: Any) -> Item:
    """A request of a trace."""
    return {
        "timestamp": timestamp,
        "input_length": tokens,
        "output_length": output,
        "hash_ids": list(ids),
        **more,
    }
