"""Bytes to lines, a block at a time: cut at the last newline, decoded as UTF-8, split on newlines only.

A terminal's carriage returns, a form feed or a Unicode line separator inside a line stay in it; trailing
carriage returns go. What no newline ends is held back, up to a limit, so that memory is flat.
"""

from __future__ import annotations

LINE_LIMIT = 4 << 20
"""Bytes of a line that are kept; servers print prompts, but none this long."""


class LineCutter:
    """Feed it chunks of up to ``limit`` bytes; ``invalid_lines`` and ``cut_lines`` count what was mended."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._held_size = 0
        self._skipping = False
        self.invalid_lines = 0
        self.cut_lines = 0

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that ``chunk`` completes."""
        end = chunk.rfind(b"\n")
        if end < 0:
            self._hold(chunk)
            return []
        block = self._completed(chunk, end) if self._held else chunk[:end]
        self._hold(chunk[end + 1 :])
        return self._lines(block)

    def finish(self) -> list[str]:
        """The last line, if no newline ended it."""
        rest = self._released()
        return self._lines(rest) if rest else []

    def _hold(self, piece: bytes) -> None:
        room = self._limit - self._held_size
        if piece and not self._skipping:
            self._held.append(piece[:room])
            self._held_size += min(len(piece), room)
            self._skipping = len(piece) > room

    def _released(self) -> bytes:
        """The line that was held; one that was cut off loses the character that the limit cut in two."""
        line = b"".join(self._held)
        if self._skipping:
            self.cut_lines += 1
            line = _without_half_character(line)
        self._held, self._held_size, self._skipping = [], 0, False
        return line

    def _completed(self, chunk: bytes, end: int) -> bytes:
        """What is held and the chunk up to its last newline; the held line ends at the chunk's first."""
        first = chunk.find(b"\n")
        self._hold(chunk[:first])
        return self._released() + chunk[first:end]

    def _lines(self, block: bytes) -> list[str]:
        try:
            lines = block.decode().split("\n")
        except UnicodeDecodeError:
            lines = [self._decoded(line) for line in block.split(b"\n")]
        return [line.rstrip("\r") for line in lines] if b"\r" in block else lines

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.invalid_lines += 1
            return line.decode(errors="replace")


def _without_half_character(line: bytes) -> bytes:
    for back in range(1, min(4, len(line) + 1)):
        byte = line[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return line[:-back] if length > back else line
        if byte < 0x80:
            break
    return line
