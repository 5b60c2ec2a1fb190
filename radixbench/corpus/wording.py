"""Counts in the words of a note."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 request``, ``2 requests``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
