"""Which of the two kinds of recorded traffic a file holds, told by its first item."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from radixbench.corpus.items import Item, ItemReader
from radixbench.corpus.source import Source

CorpusKind = Literal["conversations", "trace"]

_BLOCKS = "hash_ids"


def told_kind(path: Path) -> CorpusKind:
    """``trace`` for a file whose first item names blocks. Raises ``CorpusError`` for what can't be read."""
    if path.is_dir() or path.suffix == ".parquet":
        return "conversations"
    first = next(iter(ItemReader(Source(path).texts(), str(path))), None)
    value = first.value if isinstance(first, Item) else None
    return "trace" if isinstance(value, dict) and _BLOCKS in value else "conversations"
