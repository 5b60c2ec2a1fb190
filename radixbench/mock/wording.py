"""Options written as words: a wrong one is refused in one line with what would be right."""

from __future__ import annotations

from typing import Any, get_args

from radixbench.errors import UsageError
from radixbench.mock.settings import Failure
from radixbench.mock.which import parse_which


def choose(flag: str, value: str, literal: Any) -> Any:
    """``value``, which must be one of the words of ``literal``. Raises ``UsageError``."""
    words = get_args(literal)
    if value not in words:
        raise UsageError(f"{flag} is {value!r}", remedy=f"give one of {', '.join(words)}")
    return value


def parse_failure(text: str) -> Failure:
    """``STATUS=WHICH`` of ``--fail``; a status alone fails every request."""
    status, _, which = text.partition("=")
    if not status.isdecimal():
        raise UsageError(f"--fail holds {text!r}", remedy="give STATUS=WHICH, such as 429=1/3")
    return Failure(int(status), parse_which(which or "all", "--fail"))
