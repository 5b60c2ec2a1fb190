"""What stands before an SGLang message: a time, ranks, and whatever wrapped the line.

The last bracketed group that holds a time or a rank is the server's own; anything may stand before it (a
progress bar, a ray actor, a container's name). Ranks come in changing order and number, so they are
read as a set of names with numbers (SGLang 0.2.15 to 0.5.23). The same prefix returns for every line of
a second, hence the cache.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from radixbench.logs.record import Rank
from radixbench.logs.timeline import Timeline
from radixbench.logs.wrapper.unwrap import Unwrapped, unwrap

_CACHE_SIZE = 4096
_LONGEST_KEPT = 300
"""A longer one, such as a line of progress bars, comes once: keeping it would cost memory."""
_UNCLEAR = ("obj=", '"obj"', "text=", '"text"', "prompt=", '"prompt"', '"content"', " batch")

_BARE = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,6})?)((?: [A-Z][A-Z_]*-?\d+)*)\] ", re.ASCII
)
_BRACKET = re.compile(r"\[([^\[\]]*)\]", re.ASCII)
_STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T|](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?|(?<![\d:.-])(\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?(?![\d:])",
    re.ASCII,
)
_RANK = re.compile(r"\b(DP|TP|PP|EP|ATTN_CP|MOE_DP|CP)(-?\d+)\b", re.ASCII)
_DEVICE = re.compile(r"\b(gpu_id|gpu|rank)=(\d+)\b", re.ASCII)
_RAY_SOURCE = re.compile(r"(?:.* )?(\w+) pid=(\d+)(?:, ip=.*)?", re.ASCII)
_RAY = re.compile(r"\((\w+) pid=(\d+)(?:, ip=[^)]*)?\)", re.ASCII)

_RANK_KEYS = {
    "DP": "dp_rank",
    "TP": "tp_rank",
    "PP": "pp_rank",
    "EP": "ep_rank",
    "ATTN_CP": "attn_cp_rank",
}


class Prefix(NamedTuple):
    """The keys a prefix gives to its record. ``at_s`` is kept for a full date only: a time of day comes again.

    ``clear``: nothing else is in it; no request's text that might go on in what follows, no other statement.
    """

    values: Mapping[str, Any]
    extra: Mapping[str, Any]
    rank: Rank
    at_s: float | None
    timestamp: str | None
    clear: bool = True


class Prefixes:
    """Reads prefixes, each text once; ``known`` are those read lately."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.known: dict[str, Prefix] = {}
        self._ranks: dict[str, Prefix] = {}

    def read(self, text: str, wrapper: Unwrapped | None = None) -> Prefix:
        """The prefix ``text``, everything before the message; ``wrapper`` is what was taken off the line around it."""
        key = text if wrapper is None else f"{wrapper.source}\0{wrapper.timestamp}\0{text}"
        known = self.known.get(key)
        if known is None:
            if len(self.known) >= _CACHE_SIZE:
                self.known.clear()
                self._ranks.clear()
            plain = self._bare(text) if wrapper is None else None
            known = plain or self._wrapped(text, wrapper)
            if len(key) <= _LONGEST_KEPT:
                self.known[key] = known
        return known

    def settled(self, prefix: Prefix) -> Prefix:
        """The prefix with its moment, asked for in the order of the lines."""
        return prefix if prefix.timestamp is None else prefix._replace(at_s=self.moment(prefix))

    def moment(self, prefix: Prefix) -> float | None:
        """Where the prefix stands on the log's axis."""
        if prefix.at_s is not None or prefix.timestamp is None:
            return prefix.at_s
        return self._timeline.at(prefix.timestamp)

    def _bare(self, text: str) -> Prefix | None:
        match = _BARE.fullmatch(text)
        if match is None:
            return None
        stamp, ranks = match[1].replace(",", "."), match[2]
        like = self._ranks.get(ranks)
        if like is None:
            like = self._ranks[ranks] = self._prefix(None, _RANK.findall(ranks), (), "", None)
        at_s = self._timeline.at(stamp)
        return Prefix({"timestamp": stamp, **like.values}, like.extra, like.rank, at_s, stamp)

    def _wrapped(self, text: str, wrapper: Unwrapped | None) -> Prefix:
        inner = unwrap(text)
        outer = wrapper or inner
        source = outer.source or inner.source
        ray = _RAY_SOURCE.match(source) or _RAY.search(text)
        stamp, group = _own_stamp(inner.text)
        prefix = self._prefix(
            stamp or outer.timestamp or inner.timestamp,
            _RANK.findall(group),
            tuple(_DEVICE.findall(group)),
            source,
            ray and ray.groups(),
        )
        clear = not any(mark in text for mark in _UNCLEAR)
        return prefix if clear else prefix._replace(clear=False)

    def _prefix(
        self,
        stamp: str | None,
        ranks: list[tuple[str, str]],
        devices: tuple[tuple[str, str], ...],
        source: str,
        ray: tuple[str | Any, ...] | None,
    ) -> Prefix:
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {name: int(number) for name, number in devices}
        if stamp is not None:
            values["timestamp"] = stamp
        for name, number in ranks:
            if name in _RANK_KEYS:
                values[_RANK_KEYS[name]] = int(number)
            else:
                extra[f"{name.lower()}_rank"] = int(number)
        if ray is not None:
            values["ray_actor"], values["ray_pid"] = ray[0], int(ray[1])
        dated = stamp is not None and len(stamp) >= 19 and stamp[4] == "-"
        return Prefix(
            values,
            extra,
            _rank(source, ranks, devices),
            self._timeline.at(stamp) if dated and stamp is not None else None,
            stamp,
        )


def _rank(source: str, ranks: list[tuple[str, str]], devices: tuple[tuple[str, str], ...]) -> Rank:
    numbers = {name: int(number) for name, number in ranks}
    dp = numbers.pop("DP", None)
    parts = tuple(numbers.items()) + tuple((name.upper(), int(number)) for name, number in devices)
    return Rank(source, dp if dp is not None and dp >= 0 else None, parts)


def _own_stamp(text: str) -> tuple[str | None, str]:
    """The server's own time and the group that holds it: the last bracket with a time or a rank, else a bare time."""
    for match in reversed(list(_BRACKET.finditer(text))):
        group = match[1]
        stamp = _STAMP.search(group)
        if stamp is not None and "<" not in group:  # a progress bar's [00:04<04:51] is no time
            return _joined(stamp), group
        if _RANK.search(group) or _DEVICE.search(group):
            return None, group
    bare = "[" not in text
    stamps = [found for found in _STAMP.finditer(text) if bare or text[found.start() - 1] == "["]
    return (_joined(stamps[-1]), "") if stamps else (None, "")


def _joined(stamp: re.Match[str]) -> str:
    date, clock, fraction, time_of_day, its_fraction = stamp.groups()
    if date is not None:
        return f"{date} {clock}" + (f".{fraction}" if fraction else "")
    return time_of_day + (f".{its_fraction}" if its_fraction else "")
