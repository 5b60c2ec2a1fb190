"""``python -m radixbench``."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    _open_standard_streams()
    from radixbench.cli.main import run

    raise SystemExit(run())


def _open_standard_streams() -> None:
    """A closed standard stream would give its number to the next file; a narrow encoding would end in an error."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0)  # noqa: SIM115 - lives as long as the process
    sys.stdout = sys.stdout or open(1, "w")  # noqa: SIM115 - likewise
    sys.stderr = sys.stderr or open(2, "w")  # noqa: SIM115 - likewise
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
