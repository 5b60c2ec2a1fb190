"""What became of a corpus while it was read: items used, dropped and mended, and what they look like.

Every item read is either used or dropped for one reason. Mends change what an item asks without losing it, so
they are notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from radixbench.corpus.clock_text import HeadWatch
from radixbench.corpus.shapes import Shaped
from radixbench.corpus.wording import counted
from radixbench.records import CorpusRecord
from radixbench.workloads.chats import Chat, asked_at

_BOUNDS: Final = (1, 2, 3, 4, 8, 16, 32)


class Tally:
    """The running account of one corpus of conversations."""

    def __init__(self) -> None:
        self.read = 0
        self.used = 0
        self.dropped: Counter[str] = Counter()
        self._mended: Counter[str] = Counter()
        self._formats: Counter[str] = Counter()
        self._requests: Counter[int] = Counter()
        self._asked_chars = 0
        self._repeated_chars = 0
        self._heads = HeadWatch()

    def drop(self, reason: str) -> None:
        """An item can't be used."""
        self.read += 1
        self.dropped[reason] += 1

    def use(self, shaped: Shaped) -> None:
        """An item became a conversation."""
        self.read += 1
        self.used += 1
        self._formats[shaped.format] += 1
        self._mended.update(shaped.mended)
        messages = shaped.chat.messages
        if messages[0].role == "system":
            self._heads.see(messages[0].text)
        self._weigh(shaped.chat)

    def record(self, name: str, sha256: str | None, notes: Sequence[str]) -> CorpusRecord:
        """The account as a capture keeps it; ``notes`` of the reading come first."""
        formats = sorted(self._formats)
        mixed = ", ".join(f"{count} {kind}" for kind, count in sorted(self._formats.items()))
        own = [f"{counted(count, 'conversation')}: {mend}" for mend, count in self._mended.most_common()]
        if len(formats) > 1:
            own.append(f"shapes are mixed: {mixed}")
        return CorpusRecord(
            name=name,
            format="+".join(formats),
            sha256=sha256,
            items_read=self.read,
            items_used=self.used,
            dropped=dict(self.dropped.most_common()),
            notes=(*notes, *self._histogram(), *own, *self._heads.findings()),
        )

    def _weigh(self, chat: Chat) -> None:
        """Characters the prompt of each request holds, and how many of them the prompt before held."""
        asked = asked_at(chat)
        chars = list(accumulate((len(message.text) for message in chat.messages), initial=0))
        self._asked_chars += sum(chars[place] for place in asked)
        self._repeated_chars += sum(chars[place] for place in asked[:-1])
        self._requests[len(asked)] += 1

    def _histogram(self) -> list[str]:
        """Requests per conversation in classes, and the share of text a prompt repeats of the one before."""
        if not self._requests:
            return []
        classes: Counter[str] = Counter()
        for requests, count in sorted(self._requests.items()):
            classes[_class(requests)] += count
        shown = ", ".join(f"{requests}: {count}" for requests, count in classes.items())
        share = self._repeated_chars / self._asked_chars if self._asked_chars else 0.0
        return [
            f"requests per conversation: {shown}",
            f"{share:.1%} of the prompts' characters were in the prompt before of the same conversation",
        ]


def _class(requests: int) -> str:
    low = 1
    for bound in _BOUNDS:
        if requests <= bound:
            return str(bound) if low == bound else f"{low}-{bound}"
        low = bound + 1
    return f"{low} or more"
