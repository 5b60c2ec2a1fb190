"""llama.cpp's log: timings, reuse and slots of its server (2023 to 2026), and the timings of its programs.

Until 2026 a request's timings stand in four physical lines, of which the first alone names slot and task: a
block. Another line may come between; after a few the block is given up and what was read of
it is kept as truncated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from radixbench.logs.llamacpp.events import read_server, read_structured
from radixbench.logs.llamacpp.head import Line, bare_line, met_lines, moment, wrapped_line
from radixbench.logs.llamacpp.slots import read_slot
from radixbench.logs.llamacpp.timing import Said, read_draft, read_timing, read_unled_timing
from radixbench.logs.record import DialectName, LogRecord, Parsed, Rank
from radixbench.logs.timeline import Timeline
from radixbench.logs.wrapper.unwrap import strip_ansi

_UNNAMED = Rank()
_MOST_FOREIGN = 4
_OTHERS_SHARE = 1 / 16
_MOST_SERVERS = 256
_BLOCK_KINDS = {"prompt_eval": "prompt_ms", "eval": "predicted_ms", "total": "total_ms"}
_BLOCK_KEYS = frozenset({"prompt_ms", "prompt_n", "predicted_ms", "predicted_n", "total_ms", "total_n"})
_DRAFT_REACH = 2

_ALL = ("slot", "task", "pid", "uptime")
_CONTEXT: dict[str, tuple[str, ...]] = {
    "prompt_eval": ("slot", "task", "uptime", "epoch"),
    "eval": ("slot", "task", "uptime", "epoch"),
    "total": ("slot", "task", "uptime"),
    "sample": (),
    "timing_block": _ALL,
    "new_prompt": _ALL,
    "full_reprocess": _ALL,
    "cached": _ALL,
    "progress_decode": _ALL,
    "match": _ALL,
    "release": (*_ALL, "epoch"),
    "draft": ("slot", "task", "uptime"),
    "slot_select": ("slot", "task", "uptime"),
    "kv_rm": ("slot", "task", "epoch"),
    "progress": ("slot", "task"),
    "prompt_done": ("slot", "task"),
    "prompt_split": ("slot",),
    "prompt_cache_state": ("uptime",),
    "other": (),
}
"""Which of slot, task and clock belong to the keys of a kind; the others are kept in ``extra``."""


_Server = tuple[str, int | None]


@dataclass(slots=True)
class _Block:
    line_no: int
    line: Line
    slot: int | None
    task: int | None
    at_s: float | None
    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    foreign: float = 0
    last_line_no: int = 0


class LlamaCpp:
    """Reads one log's llama.cpp lines."""

    name: DialectName = "llamacpp"
    markers = (
        "| task ",
        "l time ",  # "eval time", "total time"
        "sample time ",
        "id_slot",
        "slot_id",
        "in cache",
        "kv cache rm",
        "draft acceptance",
        "cache state: ",
        "rompt cache",
        "oldest entry",
        "n_slots",
        "listening",
        "build",
    )

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._blocks: dict[_Server, _Block] = {}
        self._finished: dict[_Server, _Block] = {}

    @property
    def open(self) -> bool:
        """The timings of a block go on in next lines."""
        return bool(self._blocks)

    def parse(self, line_no: int, text: str) -> Parsed:
        """A line that holds one of ``markers``."""
        text = strip_ansi(text)
        if text.count("| task ") > 1:
            parsed = [self._statement(line_no, piece) for piece in met_lines(text)]
            kind = next((one.kind for one in parsed if one.kind is not None), None)
            return Parsed(kind, tuple(record for one in parsed for record in one.records))
        return self._statement(line_no, text)

    def extend(self, line_no: int, text: str) -> Parsed:
        """The next line while a block is open: one of its timings, another line, or the end of patience."""
        text = strip_ansi(text)
        line = bare_line(text)
        said = _continuation(line) if line.server in self._blocks else None
        if said is None:
            line = wrapped_line(text) or line
            said = _continuation(line) if line.server in self._blocks else None
        if said is None:
            return Parsed(None, self._wait(line.server))
        block = self._blocks[line.server]
        if _BLOCK_KINDS[said.kind] in block.values:  # the head of the next block is missing
            return Parsed(None, self._end(line.server))
        for key, value in (*said.values.items(), *said.extra.items()):
            (block.values if key in _BLOCK_KEYS or key == "truncated" else block.extra)[key] = value
        block.last_line_no = line_no
        return Parsed("timing_block", self._end(line.server) if said.kind == "total" else ())

    def close(self) -> tuple[LogRecord, ...]:
        """What the open blocks have so far."""
        return tuple(record for server in tuple(self._blocks) for record in self._end(server))

    def _wait(self, server: _Server) -> tuple[LogRecord, ...]:
        """A line that continues nothing; a block's own server tries its patience most."""
        given_up: list[_Server] = []
        for owner, block in self._blocks.items():
            block.foreign += 1 if owner == server else _OTHERS_SHARE
            if block.foreign > _MOST_FOREIGN:
                given_up.append(owner)
        return tuple(record for owner in given_up for record in self._end(owner))

    def _end(self, server: _Server) -> tuple[LogRecord, ...]:
        block = self._blocks.pop(server, None)
        if block is None:
            return ()
        if len(self._finished) >= _MOST_SERVERS:
            self._finished.clear()
        self._finished[server] = block
        if not all(part in block.values for part in _BLOCK_KINDS.values()):
            block.values["truncated"] = True
        said = Said("timing_block", block.values, block.extra, block.slot, block.task)
        return (self._record(block.line_no, block.line, said, block.at_s),)

    def _statement(self, line_no: int, text: str) -> Parsed:
        line = bare_line(text)
        said = _read(line)
        if said is None:
            inner = wrapped_line(text)
            said = None if inner is None else _read(inner)
            if said is None or inner is None:
                return Parsed(None)
            line = inner
        if said.kind == "malformed":
            return Parsed("malformed")
        if said.kind == "timing_block":
            cut_off = self._end(line.server)
            at_s = moment(self._timeline, line)
            self._blocks[line.server] = _Block(
                line_no, line, said.slot, said.task, at_s, last_line_no=line_no
            )
            return Parsed("timing_block", cut_off)
        if said.kind == "draft" and said.slot is None:
            said = self._of_last_block(line_no, line, said)
        return Parsed(said.kind, (self._record(line_no, line, said, moment(self._timeline, line)),))

    def _of_last_block(self, line_no: int, line: Line, said: Said) -> Said:
        """Up to 2026 the line about drafts follows a block and belongs to its slot and task."""
        block = self._finished.get(line.server)
        if block is None or line_no - block.last_line_no > _DRAFT_REACH:
            return said
        return said._replace(slot=block.slot, task=block.task)

    @staticmethod
    def _record(line_no: int, line: Line, said: Said, at_s: float | None) -> LogRecord:
        kind, values, extra, slot, task = said
        keys = _CONTEXT[kind]
        if slot is not None:
            (values if "slot" in keys else extra)["slot"] = slot
        if task is not None:
            (values if "task" in keys else extra)["task"] = task
        if line.pid is not None:
            (values if "pid" in keys else extra)["pid"] = line.pid
        if line.uptime is not None:
            (values if "uptime" in keys else extra)["uptime"] = line.uptime
        if line.fields is not None and line.epoch is not None:
            (values if "epoch" in keys else extra)["epoch"] = line.epoch
        if extra and not extra.keys().isdisjoint(values):
            extra = {key: value for key, value in extra.items() if key not in values}
        return LogRecord(
            line_no, "llamacpp", kind, values, extra, Rank(line.source) if line.source else _UNNAMED, at_s
        )


def _read(line: Line) -> Said | None:
    message = line.message
    if line.fields is not None:
        return read_structured(message, line.fields)
    if message.startswith("slot "):
        return read_slot(message)
    return read_unled_timing(message) or read_draft(message) or read_server(message)


def _continuation(line: Line) -> Said | None:
    """A timing without a head of its own."""
    said = None if line.fields is not None else read_timing(line.message)
    return said if said is not None and said.kind in _BLOCK_KINDS and "program" not in said.values else None
