"""Text that a terminal shows and doesn't obey."""

from __future__ import annotations


def clean(text: str) -> str:
    """Text without control characters: names come from files and servers."""
    return "".join(character if character.isprintable() else "�" for character in text)
