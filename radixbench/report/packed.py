"""Text packed small into a page: gzip in base64, which no string within can lead out of its element."""

from __future__ import annotations

import base64
import gzip


def packed(text: str) -> str:
    """The text as ASCII; the same text gives the same bytes for ever."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


def unpacked(text: str) -> str:
    """What ``packed`` was given."""
    return gzip.decompress(base64.b64decode(text)).decode()
