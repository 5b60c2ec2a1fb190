"""The answers to one order as their tokens come in: text, counts, and what is sent of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from radixbench.model.tokenizer import Tokenizer
from radixbench.server.order import Order
from radixbench.server.outlet import Arrival
from radixbench.server.replies import Json, Piece, Replies, Usage, event
from radixbench.server.text import AnswerText


@dataclass(slots=True)
class _Choice:
    """One answer as far as it has come."""

    text: AnswerText
    shown: list[str]
    token_ids: list[int] = field(default_factory=list)
    cached_tokens: int = 0
    finish_reason: str | None = None


class Answer:
    """Turns arrivals into replies. Mutable: it belongs to the one handler that feeds it."""

    def __init__(self, order: Order, replies: Replies, tokenizer: Tokenizer) -> None:
        self._order = order
        self._replies = replies
        self._choices = [
            _Choice(AnswerText(tokenizer, order.options.stop), shown=[order.echo[order.prompt_of(choice)]])
            for choice in range(order.choices)
        ]
        self._open = order.choices

    @property
    def finished(self) -> bool:
        """Whether every answer has its last token."""
        return not self._open

    def unfinished(self) -> list[str]:
        """Engine request ids of the answers still under way."""
        pairs = zip(self._order.rids(), self._choices, strict=True)
        return [rid for rid, choice in pairs if choice.finish_reason is None]

    def take(self, arrivals: Iterable[Arrival]) -> None:
        """Keep tokens for ``whole``."""
        for arrival in arrivals:
            self._choices[arrival.choice].shown.append(self._text_of(arrival))

    def whole(self) -> Json:
        """The body with every answer in full."""
        pieces = [self._whole_piece(number, choice) for number, choice in enumerate(self._choices)]
        return self._replies.whole(pieces, self._usage())

    def openings(self) -> list[bytes]:
        """What a stream starts with."""
        bodies = (self._replies.opening(choice) for choice in range(self._order.choices))
        return [event(body) for body in bodies if body is not None]

    def events(self, arrivals: Iterable[Arrival]) -> list[bytes]:
        """One event per token that has something to say; the usage goes with the last finish reason."""
        found = []
        for arrival in arrivals:
            piece = self._piece(arrival)
            if piece.text or piece.token_ids or piece.finish_reason:
                usage = self._usage() if self.finished else None
                found.append(event(self._replies.chunk(piece, usage)))
        if self.finished and self._order.options.include_usage:
            found.append(event(self._replies.closing(self._usage())))
        return found

    def _usage(self) -> Usage:
        firsts = self._choices[:: self._order.options.n]
        return Usage(
            prompt_tokens=sum(map(len, self._order.prompts)),
            completion_tokens=sum(len(choice.token_ids) for choice in self._choices),
            cached_tokens=sum(choice.cached_tokens for choice in firsts),
        )

    def _text_of(self, arrival: Arrival) -> str:
        """The text one more token lets show."""
        choice = self._choices[arrival.choice]
        choice.token_ids.append(arrival.token_id)
        choice.cached_tokens = arrival.cached_tokens
        text = choice.text.push(arrival.token_id)
        if arrival.finish_reason is not None:
            text += choice.text.flush()
            choice.finish_reason = arrival.finish_reason
            self._open -= 1
        return text

    def _piece(self, arrival: Arrival) -> Piece:
        choice, wants_ids = self._choices[arrival.choice], self._order.options.return_token_ids
        text, first = self._text_of(arrival), len(choice.token_ids) == 1
        return Piece(
            choice=arrival.choice,
            text="".join(choice.shown) + text if first else text,
            finish_reason=arrival.finish_reason,
            token_ids=(arrival.token_id,) if wants_ids else None,
            prompt_token_ids=self._prompt_of(arrival.choice) if wants_ids and first else None,
        )

    def _whole_piece(self, number: int, choice: _Choice) -> Piece:
        wants_ids = self._order.options.return_token_ids
        return Piece(
            choice=number,
            text="".join(choice.shown),
            finish_reason=choice.finish_reason,
            token_ids=choice.token_ids if wants_ids else None,
            prompt_token_ids=self._prompt_of(number) if wants_ids else None,
        )

    def _prompt_of(self, choice: int) -> tuple[int, ...]:
        return self._order.prompts[self._order.prompt_of(choice)]
