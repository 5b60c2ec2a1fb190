"""What a server has been sent: the beginnings of prompts, as hashes, so that a repeat is known as one.

A cold cell whose prompts a server has seen before is cold only if everything was dropped in between.
The ledger lives as long as the server's process. A server that isn't ours outlives us, so its ledger is kept
in the user's cache directory, under its address and identity; there the oldest beginnings are forgotten first.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from radixbench.capture.output import replacing
from radixbench.errors import OutputError
from radixbench.units import Tokens
from radixbench.workloads.conversation import TokenIds

MOST_PAGES = 100_000
_LEAST: Tokens = 4  # a token source makes prompts unlike within four tokens, not always within one
_DIGEST_BYTES = 8
_SCHEMA = "radixbench.ledger/1"


@dataclass(frozen=True, slots=True)
class Repeats:
    """Prompts whose first page a server had been sent before: ever, and since its last proved flush."""

    ever: int
    unflushed: int


class Ledger:
    """One server's first pages of ``page_size`` tokens, each with the flush after which it was last sent."""

    def __init__(self, page_size: Tokens, path: Path | None = None) -> None:
        self._page: Tokens = max(page_size, _LEAST)
        self._path = path
        self._flushes = 0
        self._complied = False
        self._pages: dict[str, int] = {}
        if path is not None:
            self._read(path)

    def note(self, prompts: Iterable[TokenIds], namespace: str = "") -> None:
        """These prompts were sent; a salted one lives in a ``namespace`` of its own and repeats nothing."""
        for prompt in prompts:
            key = self._key(prompt, namespace)
            self._pages.pop(key, None)
            self._pages[key] = self._flushes

    def flushed(self) -> None:
        """A probe has shown that everything was dropped."""
        self._flushes += 1

    def complied(self) -> None:
        """The server says that it dropped everything; nothing need have shown it."""
        self._complied = True

    @property
    def ever_flushed(self) -> bool:
        """Whether this server ever dropped everything, by its own word or as a probe has shown."""
        return self._complied or self._flushes > 0

    def repeats(self, prompts: Iterable[TokenIds]) -> Repeats:
        """How many of these prompts begin like one noted before."""
        met = [self._pages.get(self._key(prompt)) for prompt in prompts]
        return Repeats(
            ever=sum(flush is not None for flush in met),
            unflushed=sum(flush == self._flushes for flush in met),
        )

    def keep(self) -> None:
        """Write what a later invocation shall know; for a server of ours nothing."""
        if self._path is None:
            return
        newest = dict(list(self._pages.items())[-MOST_PAGES:])
        document = {"schema": _SCHEMA, "flushes": self._flushes, "pages": newest}
        try:
            with replacing(self._path) as file:
                file.write(json.dumps(document).encode())
        except OutputError:
            self._path = None  # no room for it: the ledger still holds for this invocation

    def _key(self, prompt: TokenIds, namespace: str = "") -> str:
        page = array("i", prompt[: self._page]).tobytes()
        return hashlib.blake2b(namespace.encode() + page, digest_size=_DIGEST_BYTES).hexdigest()

    def _read(self, path: Path) -> None:
        """What an earlier invocation left; a file that can't be read is as good as none."""
        try:
            document = json.loads(path.read_bytes())
            if document["schema"] == _SCHEMA:
                pages = {str(key): int(flush) for key, flush in document["pages"].items()}
                self._flushes, self._pages = int(document["flushes"]), pages
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return


def ledger_file(folder: Path, base_url: str, identity: str) -> Path:
    """Where the ledger of a server that isn't ours lies; another model or start of it has another file."""
    name = hashlib.sha256(f"{base_url}\n{identity}".encode()).hexdigest()[:32]
    return folder / "ledgers" / f"{name}.json"
