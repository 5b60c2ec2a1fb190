"""What is said to people while results go to stdout."""

from __future__ import annotations

import os
import sys

from radixbench.report.inert import inert


def say(line: str) -> None:
    """One line on stderr; names in it come from files and servers.

    Where nobody can read it (a reader that went away, a full disk) that changes neither the outcome nor the exit code.
    """
    try:
        sys.stderr.write(f"{inert(line)}\n")
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # or the interpreter would stumble over it once more
