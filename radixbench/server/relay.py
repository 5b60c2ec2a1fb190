"""The HTTP library's complaints, as single lines of the server's own log."""

from __future__ import annotations

import logging

from radixbench.server.steplog import StepLog


class _Relay(logging.Handler):
    def __init__(self, log: StepLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        cause = "" if error is None else f": {type(error).__name__}"
        self._log.message(f"{record.getMessage()}{cause}")


def relay_to(log: StepLog) -> logging.Logger:
    """A logger of its own, outside the process-wide tree, whose lines end up in ``log``.

    Tracebacks are left out: what reaches it are clients that don't speak HTTP. Faults of ours are
    reported by the error guard.
    """
    logger = logging.Logger("http")
    logger.addHandler(_Relay(log))
    return logger
