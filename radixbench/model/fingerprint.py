"""What identifies a model's weights and tokenizer: hashes over the files' bytes.

A capture names them, so that two captures can prove that they ran the same model. Hashing gigabytes takes
seconds, so a hash is kept in the cache directory under the files' paths, sizes and times.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from radixbench.model.cache_dir import cache_dir

_TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "special_tokens_map.json",
    "spiece.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)


def weights_sha256(files: Sequence[Path]) -> str:
    """SHA-256 over the files' own SHA-256s, in name order, in hex; remembered while they don't change."""
    key = hashlib.sha256()
    for file in sorted(files):
        stat = file.stat()
        key.update(f"{file.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    kept = cache_dir() / "fingerprints" / key.hexdigest()
    with contextlib.suppress(OSError):
        return kept.read_text()
    sha = _over(files)
    with contextlib.suppress(OSError):  # a cache that can't be written only costs time
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f"{kept.name}.{os.getpid()}")
        partial.write_text(sha)
        partial.replace(kept)
    return sha


def tokenizer_sha256(directory: Path) -> str:
    """SHA-256 over the tokenizer's files in ``directory``, in hex."""
    return _over([file for name in _TOKENIZER_FILES if (file := directory / name).is_file()])


def _over(files: Sequence[Path]) -> str:
    sha = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.name):
        with file.open("rb") as stream:
            sha.update(hashlib.file_digest(stream, "sha256").digest())
    return sha.hexdigest()
