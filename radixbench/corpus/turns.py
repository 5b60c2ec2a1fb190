"""The order of speakers: what of a recorded conversation can be asked again, turn by turn.

Every assistant message is one request whose prompt is all that was said before it, so a conversation must
begin with something to answer and no answer may follow on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from radixbench.workloads.conversation import Message

BEGAN_LATE: Final = (
    "began with a reply, as a part of a longer conversation does: left out up to the first question"
)
TWO_REPLIES: Final = "two replies in a row: cut before the second"
BLANK_REPLY: Final = "a blank reply: cut before it"
BLANK_TEXT: Final = "a blank message that is no reply: kept"
NO_LAST_REPLY: Final = "the last question has no reply: left out"
LATE_SYSTEM: Final = (
    "a system message that isn't the first: kept, though some templates refuse it or move it to the front,"
    " which breaks every prefix"
)


class Refused(NamedTuple):
    """Why an item can't be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class Turns:
    """Messages that end with a reply, and what was mended, in words."""

    messages: tuple[Message, ...]
    mended: tuple[str, ...]


def arranged(said: Sequence[Message]) -> Turns | Refused:
    """What of ``said`` can be asked again; refused where no reply is left."""
    mended: dict[str, None] = {}
    kept = _from_first_question(said, mended)
    kept = kept[: _usable(kept, mended)]
    replies = [place for place, message in enumerate(kept) if message.role == "assistant"]
    if not replies:
        return Refused("a blank reply" if BLANK_REPLY in mended else "no question with a reply in it")
    last = replies[-1] + 1
    if last < len(kept):
        mended[NO_LAST_REPLY] = None
    kept = kept[:last]
    if any(not message.text.strip() for message in kept):
        mended[BLANK_TEXT] = None
    if any(message.role == "system" for message in kept[1:]):
        mended[LATE_SYSTEM] = None
    return Turns(tuple(kept), tuple(mended))


def _from_first_question(said: Sequence[Message], mended: dict[str, None]) -> list[Message]:
    """Without the replies before the first question; system messages stay."""
    first = next((place for place, one in enumerate(said) if one.role in ("user", "tool")), len(said))
    heads = [message for message in said[:first] if message.role != "assistant"]
    if len(heads) < first:
        mended[BEGAN_LATE] = None
    return [*heads, *said[first:]]


def _usable(said: Sequence[Message], mended: dict[str, None]) -> int:
    """How many messages go before the first that can't be asked for."""
    for place, message in enumerate(said):
        if message.role != "assistant":
            continue
        if not message.text.strip():
            mended[BLANK_REPLY] = None
            return place
        if place and said[place - 1].role == "assistant":
            mended[TWO_REPLIES] = None
            return place
    return len(said)
