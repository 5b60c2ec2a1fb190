"""Neighbouring windows added up, so that a long log fits a terminal or a chart and no token is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from radixbench.metrics.log_summary.model import Window

_STEPS = (1, 2, 3, 4, 5, 6, 8)


class Stretches(NamedTuple):
    """At most so many windows as were asked for; each is the sum of up to ``of`` neighbours as they came."""

    windows: tuple[Window, ...]
    of: int


def stretched(windows: Sequence[Window], most: int | None) -> Stretches:
    """Windows in time order, added up until at most ``most`` are left; ``None`` leaves them as they are."""
    if most is None or len(windows) <= most:
        return Stretches(tuple(windows), 1)
    for of in _widths():
        groups = _grouped(windows, of)
        if len(groups) <= most:
            return Stretches(tuple(_added_up(group, of) for group in groups), of)
    raise AssertionError("widths grow without end")


def share(cached: int, new: int) -> float | None:
    """The hit rate of so many tokens; ``None`` of none."""
    return cached / (cached + new) if cached + new else None


def _widths() -> Iterator[int]:
    for power in count():
        for step in _STEPS:
            yield step * 10**power


def _grouped(windows: Sequence[Window], of: int) -> list[list[Window]]:
    first, width = windows[0].start_s, of * windows[0].length_s
    groups: dict[int, list[Window]] = {}
    for window in windows:
        groups.setdefault(int((window.start_s - first + windows[0].length_s / 2) // width), []).append(window)
    return list(groups.values())


def _added_up(group: Sequence[Window], of: int) -> Window:
    first = group[0]
    new, cached = sum(w.new_tokens for w in group), sum(w.cached_tokens for w in group)
    tokens = [w.output_tokens for w in group if w.output_tokens is not None]
    seconds = sum(w.output_s for w in group if w.output_s is not None)
    pools: dict[str, float] = {}
    for window in group:
        for name, value in window.pools.items():
            pools[name] = max(value, pools.get(name, value))
    server = [w.server_hit_rate for w in group if w.server_hit_rate is not None]
    return Window(
        start_s=first.start_s,
        length_s=of * first.length_s,
        label=first.label,
        prefill_batches=sum(w.prefill_batches for w in group),
        new_tokens=new,
        cached_tokens=cached,
        hit_rate=share(cached, new),
        decode_batches=sum(w.decode_batches for w in group),
        output_throughput=sum(tokens) / seconds if tokens and seconds else None,
        output_tokens=sum(tokens) if tokens else None,
        output_s=seconds if tokens else None,
        running_max=_most([w.running_max for w in group]),
        queue_max=_most([w.queue_max for w in group]),
        usage_max=max((w.usage_max for w in group if w.usage_max is not None), default=None),
        pools=pools,
        server_hit_rate=server[-1] if server else None,
        events=dict(sum((Counter(w.events) for w in group), Counter())),
    )


def _most(values: Sequence[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
