"""An answer's text as it grows: bytes to characters, and no further than a stop string.

Text is held back while it may be the beginning of a stop string, so that no client sees a part of
one and then its retraction.
"""

from __future__ import annotations

from radixbench.model.tokenizer import IncrementalDecoder, Tokenizer


class StopStrings:
    """Lets text through up to the first of some stop strings."""

    def __init__(self, stops: tuple[str, ...]) -> None:
        self._stops = stops
        self._longest = max(map(len, stops), default=0)
        self._held = ""
        self.found = False

    def push(self, text: str) -> str:
        """What of the text so far may be shown now; nothing once a stop string was found."""
        if not self._stops:
            return text
        if self.found:
            return ""
        text = self._held + text
        ends = [at for at in (text.find(stop) for stop in self._stops) if at >= 0]
        if ends:
            self.found, self._held = True, ""
            return text[: min(ends)]
        shown = len(text) - self._open_length(text)
        self._held = text[shown:]
        return text[:shown]

    def flush(self) -> str:
        """What was held back, now that no more text comes."""
        held, self._held = self._held, ""
        return held

    def _open_length(self, text: str) -> int:
        """Length of the longest end of ``text`` that begins a stop string."""
        for length in range(min(self._longest - 1, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                return length
        return 0


class AnswerText:
    """One answer's text, token by token; the joined pieces are the answer up to its stop string."""

    def __init__(self, tokenizer: Tokenizer, stops: tuple[str, ...]) -> None:
        self._decoder = IncrementalDecoder(tokenizer)
        self._stops = StopStrings(stops)

    def push(self, token_id: int) -> str:
        """The text that one more token lets show."""
        return self._stops.push(self._decoder.push(token_id))

    def flush(self) -> str:
        """The rest, once the last token has come."""
        return self._stops.push(self._decoder.flush()) + self._stops.flush()

    def reaches_stop(self, token_id: int) -> bool:
        """Take one more token; whether a stop string is complete now."""
        self.push(token_id)
        return self._stops.found
