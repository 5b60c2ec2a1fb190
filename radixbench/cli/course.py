"""How a sweep shall run its course: resumed, limited in time or by its intervals, calibrated or not, told or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from radixbench.errors import UsageError
from radixbench.scenario.typed import parse_duration, parse_percent
from radixbench.units import Seconds

_NARROWEST = 0.001


@dataclass(frozen=True, slots=True)
class Course:
    """``max_time_s`` of ``None`` is no limit; ``resume`` goes on with captures that exist.

    ``until`` is the relative half-width to which seeds are added, ``None`` where none are. ``quiet`` leaves stderr to errors.
    """

    resume: bool
    max_time_s: Seconds | None
    calibrate: bool
    until: float | None = None
    quiet: bool = False

    @classmethod
    def of(
        cls,
        *,
        resume: bool,
        out: Path | None,
        max_time: str | None,
        no_calibrate: bool,
        until: str | None,
        quiet: bool,
    ) -> Course:
        """The course that the flags describe; refuses a resumption of nothing, a limit of no time and no interval."""
        if resume and out is None:
            raise UsageError(
                "--resume: nothing says what to go on with", remedy="name it with --out, as the first time"
            )
        limit = None if max_time is None else parse_duration(max_time, flag="--max-time")
        if limit is not None and limit <= 0:
            raise UsageError("--max-time: must be more than 0", remedy="write a time such as 30m or 2h")
        target = None if until is None else parse_percent(until, flag="--until")
        if target is not None and not _NARROWEST <= target <= 1.0:
            raise UsageError(
                f"--until: must be {_NARROWEST:.1%} to 100%, not {until}", remedy="write a share such as 5%"
            )
        return cls(resume=resume, max_time_s=limit, calibrate=not no_calibrate, until=target, quiet=quiet)
