"""How a sweep shall run its course: resumed, limited in time, with or without calibration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from radixbench.errors import UsageError
from radixbench.scenario.typed import parse_duration
from radixbench.units import Seconds


@dataclass(frozen=True, slots=True)
class Course:
    """``max_time_s`` of ``None`` is no limit; ``resume`` goes on with captures that exist."""

    resume: bool
    max_time_s: Seconds | None
    calibrate: bool

    @classmethod
    def of(cls, *, resume: bool, out: Path | None, max_time: str | None, no_calibrate: bool) -> Course:
        """The course that the flags describe; refuses a resumption of nothing and a limit of no time."""
        if resume and out is None:
            raise UsageError(
                "--resume: nothing says what to go on with", remedy="name it with --out, as the first time"
            )
        limit = None if max_time is None else parse_duration(max_time, flag="--max-time")
        if limit is not None and limit <= 0:
            raise UsageError("--max-time: must be more than 0", remedy="write a time such as 30m or 2h")
        return cls(resume=resume, max_time_s=limit, calibrate=not no_calibrate)
