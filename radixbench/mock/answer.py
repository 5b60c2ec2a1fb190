"""One answer decided: its tokens and counts, before anything of it is sent.

What is said of cached tokens (``told_cached``) may differ from what was found; times follow what was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from radixbench.mock.asked import Asked
from radixbench.mock.cache import Found
from radixbench.mock.settings import MockSettings
from radixbench.mock.words import answer_ids, key_of_ids, key_of_text, word

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What request ``number`` gets. ``told_cached`` of ``None`` leaves cached tokens out of the usage.

    ``key`` is the answer as the cache keeps it. ``reason`` is the finish reason.
    """

    number: int
    id: str
    model: str
    asked: Asked
    found: Found
    token_ids: list[int]
    words: list[str]
    key: bytes
    reason: str
    tells_usage: bool
    told_cached: int | None
    ends_done: bool

    def usage(self, completion_tokens: int) -> Json:
        """OpenAI's ``usage`` object after so many tokens of the answer."""
        prompt = self.asked.prompt_tokens
        usage: Json = {
            "prompt_tokens": prompt,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt + completion_tokens,
        }
        if self.told_cached is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": self.told_cached}
        return usage


def decide(asked: Asked, found: Found, number: int, settings: MockSettings) -> Answer:
    """The answer to request ``number``, by settings and seed alone."""
    faults, seed = settings.faults, settings.seed
    count, reason = _length(asked, settings)
    if faults.empty.holds(number, seed=seed, what="empty"):
        count, reason = 0, "stop"
    ids = answer_ids(asked.prompt, count, vocab_size=settings.vocab_size, seed=seed)
    words = [word(token, settings.shape.letters) for token in ids]
    key = key_of_text("".join(words)) if asked.spoken else key_of_ids(ids)
    renamed = faults.renamed.holds(number, seed=seed, what="renamed")
    missing = settings.reporting.usage_missing.holds(number, seed=seed, what="usage")
    return Answer(
        number=number,
        id=asked.rid or f"{'cmpl' if asked.kind == 'completion' else 'chatcmpl'}-{number}",
        model=faults.answer_model if renamed and faults.answer_model else settings.model,
        asked=asked,
        found=found,
        token_ids=ids,
        words=words,
        key=key,
        reason=reason,
        tells_usage=settings.reporting.usage != "never" and not missing,
        told_cached=_told_cached(found, number, settings),
        ends_done=not faults.no_done.holds(number, seed=seed, what="no_done"),
    )


def _length(asked: Asked, settings: MockSettings) -> tuple[int, str]:
    natural = settings.answer_tokens
    if natural is None or asked.ignore_eos or natural > asked.max_tokens:
        return asked.max_tokens, "length"
    return natural, "stop"


def _told_cached(found: Found, number: int, settings: MockSettings) -> int | None:
    reporting, seed = settings.reporting, settings.seed
    if reporting.cached == "never" or reporting.cached_missing.holds(number, seed=seed, what="cached"):
        return None
    told = found.total
    if reporting.overcounted.holds(number, seed=seed, what="overcounted"):
        told += reporting.overcount
    return None if reporting.cached == "nonzero" and not told else told
