"""Every error a user can cause or meet, as one tree.

    RadixbenchError                 message, remedy, exit code
    ├── UsageError            (2)   a flag, scenario or input file is wrong
    │   ├── ScenarioError           a scenario file or a flag that overrides it
    │   ├── CaptureError            a capture file: truncated, foreign, unknown key, NaN
    │   ├── LogError                a server's log: missing, empty, binary, something else
    │   ├── CorpusError             recorded traffic: a file or hub data set that can't be read as such
    │   ├── ModelError              a model that is missing, damaged or can't be served
    │   ├── OutputError             an output that can't be written
    │   └── PortError               a port that is taken
    ├── RequestError          (2)   one request to the engine is unservable (HTTP 400)
    ├── IncompleteError       (3)   a run is missing or the server died; evidence is saved
    └── InterruptedRunError (130)   Ctrl-C; evidence is saved

The command line prints ``message`` and ``remedy`` on one line and exits with ``exit_code``; it never
shows a traceback for one of these. ``assert`` is kept for our own invariants; anything else is
our own fault and exits with 70.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_VERDICT = 1
EXIT_USAGE = 2
EXIT_INCOMPLETE = 3
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class RadixbenchError(Exception):
    """An error with the place it happened in its message and, where there is one, a remedy."""

    exit_code = EXIT_INTERNAL

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message}; {self.remedy}"


class UsageError(RadixbenchError):
    """What the user asked for can't be done as asked."""

    exit_code = EXIT_USAGE


class ScenarioError(UsageError):
    """A scenario file, or a flag that overrides one of its keys, is wrong."""


class CaptureError(UsageError):
    """A capture file can't be read as one."""


class LogError(UsageError):
    """A file can't be read as a server's log."""


class CorpusError(UsageError):
    """A file or a hub data set can't be read as recorded traffic."""


class ModelError(UsageError):
    """A model can't be found, loaded or served."""


class OutputError(UsageError):
    """An output path can't be written; found before a run starts."""


class PortError(UsageError):
    """The port a server shall listen on is taken."""


class RequestError(RadixbenchError):
    """One request can't be served: longer than the context or the pool, or malformed."""

    exit_code = EXIT_USAGE


class IncompleteError(RadixbenchError):
    """A run is missing or incomplete; what was measured is saved."""

    exit_code = EXIT_INCOMPLETE


class InterruptedRunError(RadixbenchError):
    """The user pressed Ctrl-C; what was measured is saved."""

    exit_code = EXIT_INTERRUPTED
