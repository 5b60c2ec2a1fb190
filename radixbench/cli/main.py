"""The way in: every command registered, every error turned into one line and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from typing import cast

import typer

# The help page lists commands in the order of their import.
# isort: off
from radixbench.cli import sweep, run as run_, compare, report, logs, serve, mock, simulate, doctor, model

# isort: on
from radixbench.cli.app import app
from radixbench.cli.goodput import join_targets
from radixbench.cli.stderr import say
from radixbench.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, RadixbenchError

COMMANDS = (sweep, run_, compare, report, logs, serve, mock, simulate, doctor, model)
"""The modules whose import puts a command on ``app``."""

# Typer may bring a copy of click of its own: the base of its refusals is found through one it exports.
_REFUSAL = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_UNWRITABLE = {errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EFBIG}


def run(arguments: list[str] | None = None) -> int:  # noqa: PLR0911 - one return for each way to end
    """Run one command and return its exit code: 0, 1, 2, 3, 70 or 130."""
    try:
        given = sys.argv[1:] if arguments is None else arguments
        outcome = app(args=join_targets(given), standalone_mode=False)
        sys.stdout.flush()
    except RadixbenchError as error:
        say(f"radixbench: {error}")
        return error.exit_code
    except typer.Exit as leave:
        return leave.exit_code
    except SystemExit:  # Typer's word for a reader of stdout that went away, as `| head` does
        return EXIT_USAGE
    except (KeyboardInterrupt, typer.Abort):
        say("radixbench: interrupted")
        return EXIT_INTERRUPTED
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            return _own_fault()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter would stumble over it once more
        say(f"radixbench: stdout can't be written: {error.strerror}")
        return EXIT_USAGE
    except Exception as error:  # noqa: BLE001 - the last line of defence: our own fault, reported as such
        if isinstance(error, _REFUSAL):
            return _explain(cast(typer.BadParameter, error))
        return _own_fault()
    if outcome == EXIT_INTERRUPTED:  # Typer's word for a KeyboardInterrupt
        say("radixbench: interrupted")
    return outcome if isinstance(outcome, int) else EXIT_OK


def _own_fault() -> int:
    with contextlib.suppress(OSError):
        traceback.print_exc()
    say("radixbench: this is a fault of radixbench itself; please report the lines above")
    return EXIT_INTERNAL


def _explain(error: typer.BadParameter) -> int:
    """Typer's own refusals, such as an unknown option, in our one-line form."""
    context = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help())
        return EXIT_OK
    command = "radixbench" if context is None else context.command_path
    message = " ".join(error.format_message().split()).rstrip(".")
    say(f"radixbench: {message}; see `{command} --help`")
    return EXIT_USAGE
