"""One pool of KV slots for cached and running tokens, handed out in long runs.

A model reads a run of consecutive slots as a view, so what matters is not only how many slots are
free but that one request's tokens lie side by side. Free slots form extents that merge with their
neighbours when freed. Behind a request's last run a ``Room`` of free slots is promised to it: its
next chunk and its decode tokens land there. A promise is soft: the slots stay free in every count,
and are recalled as soon as anyone needs them.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_FIT_TRIES: Final = 8
_SMALL_ROOM: Final = 64
_SHARES: Final = 8


class Run(NamedTuple):
    """Consecutive slots, ``start`` included, ``stop`` not."""

    start: int
    stop: int


class Room:
    """Free slots promised to one request, from ``start`` up to ``stop``; often none."""

    __slots__ = ("start", "stop")

    def __init__(self) -> None:
        self.start = 0
        self.stop = 0

    def __len__(self) -> int:
        return self.stop - self.start


class SlotPool:
    """Slots 0 … size−1 in whole pages of ``page_size``; position i of a page is slot i of it.

    ``size`` is rounded down to pages. ``free`` slots are ``open`` to all or promised. Work is per run, never
    per token.
    """

    def __init__(self, size: int, page_size: int = 1) -> None:
        self.page_size = page_size
        self.size = size - size % page_size
        self.reset()

    def reset(self) -> None:
        """Make every slot free; promises are void."""
        self.free = 0
        self.open = 0
        self._stop_of: dict[int, int] = {}
        self._start_of: dict[int, int] = {}
        self._bins: list[dict[int, None]] = [{} for _ in range(self.size.bit_length() + 1)]
        self._filled = 0
        self._rooms: dict[Room, None] = {}
        if self.size:
            self._put_back(0, self.size)
            self.free = self.size

    def take(self, room: Room, count: int, ahead: int = 0, after: int | None = None) -> list[Run]:
        """``count`` free slots (whole pages), as few runs as can be.

        They come from ``room`` first; then from an extent that also has ``ahead`` more slots to promise,
        right behind slot ``after`` if that extent starts there. Never more than ``free``.
        """
        assert count <= self.free, f"{count} slots asked for, {self.free} free"
        self.free -= count
        runs: list[Run] = []
        if room.start < room.stop:
            stop = min(room.stop, room.start + count)
            runs.append(Run(room.start, stop))
            count -= stop - room.start
            room.start = stop
        if room.start == room.stop:
            self._rooms.pop(room, None)
        if count:
            self._take_open(runs, room, count, ahead, after)
        return runs

    def take_page(self, room: Room) -> int | None:
        """The first slot of the next page of ``room``; ``None`` when nothing is promised any more."""
        start = room.start
        if start == room.stop:
            return None
        room.start = start + self.page_size
        self.free -= self.page_size
        if room.start == room.stop:
            del self._rooms[room]
        return start

    def close(self, room: Room) -> None:
        """End a promise; what is left of it is open to all."""
        if room.start < room.stop:
            del self._rooms[room]
            self._put_back(room.start, room.stop)
            room.start = room.stop

    def recall(self, keep: int) -> None:
        """Cut every promise to ``keep`` slots (whole pages); the rest is open to all."""
        for room in list(self._rooms):
            stop = room.stop
            room.stop = min(stop, room.start + keep - keep % self.page_size)
            if room.start == room.stop:
                del self._rooms[room]
            if room.stop < stop:
                self._put_back(room.stop, stop)

    def give_back(self, slots: NDArray[np.int32]) -> None:
        """Free slots, in whole pages, in any order of runs."""
        if not len(slots):
            return
        breaks = np.flatnonzero(np.diff(slots) != 1)
        firsts = [0, *(breaks + 1).tolist()]
        lasts = [*breaks.tolist(), len(slots) - 1]
        for first, last in zip(firsts, lasts, strict=True):
            self._put_back(int(slots[first]), int(slots[last]) + 1)
        self.free += len(slots)

    def free_slots(self) -> NDArray[np.int32]:
        """Every free slot, open or promised."""
        runs = [*self._stop_of.items(), *((room.start, room.stop) for room in self._rooms)]
        parts = [np.arange(start, stop, dtype=np.int32) for start, stop in runs]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)

    def check(self) -> None:
        """Raise ``AssertionError`` unless counts and indices agree with the extents."""
        lengths = {start: stop - start for start, stop in self._stop_of.items()}
        assert self.open == sum(lengths.values()), "the open extents don't add up"
        assert self._start_of == {stop: start for start, stop in self._stop_of.items()}
        assert self.free == self.open + sum(room.stop - room.start for room in self._rooms)
        for level, extents in enumerate(self._bins):
            expected = {start for start, length in lengths.items() if length.bit_length() == level}
            assert set(extents) == expected, f"extents of level {level} are misfiled"
            assert bool(extents) == bool(self._filled >> level & 1), f"level {level} is misflagged"

    def _take_open(self, runs: list[Run], room: Room, count: int, ahead: int, after: int | None) -> None:
        if count > self.open:
            self.recall(keep=0)
        start = runs[-1].stop if runs else (None if after is None else after + 1)
        while count:
            if start is None or start not in self._stop_of or self._stop_of[start] - start < count:
                start = self._find(count + ahead)
            stop = self._withdraw(start)
            end = min(stop, start + count)
            runs.append(Run(start, end))
            count -= end - start
            if end < stop and not count and ahead:
                self._promise(room, end, min(stop, end + self._fair(ahead, self.open + stop - end)))
                end = room.stop
            if end < stop:
                self._put_back(end, stop)
            start = None

    def _fair(self, ahead: int, left: int) -> int:
        """How much of ``left`` open slots may be promised to one request, in whole pages."""
        share = min(ahead, max(_SMALL_ROOM, left // _SHARES))
        return share - share % self.page_size

    def _promise(self, room: Room, start: int, stop: int) -> None:
        room.start, room.stop = start, stop
        if start < stop:
            self._rooms[room] = None

    def _find(self, wanted: int) -> int:
        """Start of an extent with ``wanted`` slots, else of one about as long as the longest.

        Falling back on the best fit instead was seen to leave three times as many runs.
        """
        level = wanted.bit_length()
        if level < len(self._bins):
            for start in islice(self._bins[level], _FIT_TRIES):
                if self._stop_of[start] - start >= wanted:
                    return start
            larger = self._filled >> (level + 1)
            if larger:
                level += (larger & -larger).bit_length()
                return next(iter(self._bins[level]))
        return next(iter(self._bins[self._filled.bit_length() - 1]))

    def _put_back(self, start: int, stop: int) -> None:
        """Open a run, merged with the open runs on both sides."""
        if start in self._start_of:
            left = self._start_of[start]
            self._withdraw(left)
            start = left
        if stop in self._stop_of:
            stop = self._withdraw(stop)
        self._stop_of[start] = stop
        self._start_of[stop] = start
        self.open += stop - start
        level = (stop - start).bit_length()
        self._bins[level][start] = None
        self._filled |= 1 << level

    def _withdraw(self, start: int) -> int:
        """Take the open extent that begins at ``start`` out; returns where it ends."""
        stop = self._stop_of.pop(start)
        del self._start_of[stop]
        self.open -= stop - start
        level = (stop - start).bit_length()
        del self._bins[level][start]
        if not self._bins[level]:
            self._filled &= ~(1 << level)
        return stop
