"""One HTTP request for text, tokenised and numbered: what the engine is asked, and for whom.

A request for several prompts or several answers each (``n``) is several engine requests; answer ``i``
of prompt ``p`` is choice ``p · n + i``, as OpenAI numbers them.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

from radixbench.engine.batch import SamplingParams
from radixbench.engine.engine import GenerationRequest
from radixbench.errors import RequestError
from radixbench.model.tokenizer import Tokenizer
from radixbench.server.backend import Identity
from radixbench.server.fields import FieldError
from radixbench.server.loop import Submission
from radixbench.server.text import AnswerText
from radixbench.server.wire import DEFAULT_COMPLETION_TOKENS, ChatBody, CompletionBody, Options

_SEEDS = 2**63


@dataclass(frozen=True, slots=True)
class Order:
    """``echo[p]`` is put before each answer to prompt p; empty where it wasn't asked for."""

    kind: Literal["completion", "chat"]
    rid: str
    prompts: tuple[tuple[int, ...], ...]
    echo: tuple[str, ...]
    options: Options
    default_max_tokens: int | None

    @property
    def choices(self) -> int:
        """How many answers are asked for."""
        return len(self.prompts) * self.options.n

    def prompt_of(self, choice: int) -> int:
        """The prompt that a choice answers."""
        return choice // self.options.n

    def rids(self) -> list[str]:
        """The engine's request id of each choice."""
        return [self.rid] if self.choices == 1 else [f"{self.rid}-{choice}" for choice in range(self.choices)]


def completion_order(body: CompletionBody, tokenizer: Tokenizer) -> Order:
    """What a completion body asks; raises ``FieldError`` for a prompt without tokens."""
    prompts = tuple(
        tuple(tokenizer.encode(prompt)) if isinstance(prompt, str) else prompt for prompt in body.prompts
    )
    if not all(prompts):
        raise FieldError("prompt holds no tokens", param="prompt")
    echo = tuple(
        (prompt if isinstance(prompt, str) else tokenizer.decode(prompt)) if body.echo else ""
        for prompt in body.prompts
    )
    return Order(
        kind="completion",
        rid=body.options.rid or f"cmpl-{uuid.uuid4().hex}",
        prompts=prompts,
        echo=echo,
        options=body.options,
        default_max_tokens=DEFAULT_COMPLETION_TOKENS,
    )


def chat_order(body: ChatBody, tokenizer: Tokenizer) -> Order:
    """What a chat body asks; raises ``RequestError`` for a conversation the model's template refuses."""
    try:
        prompt = tuple(tokenizer.render_chat(body.messages))
    except RequestError:
        raise
    except Exception as error:
        raise RequestError(f"the model's chat template refuses these messages: {error}") from error
    return Order(
        kind="chat",
        rid=body.options.rid or f"chatcmpl-{uuid.uuid4().hex}",
        prompts=(prompt,),
        echo=("",),
        options=body.options,
        default_max_tokens=None,
    )


def submissions(order: Order, tokenizer: Tokenizer, identity: Identity) -> list[Submission]:
    """The engine requests of an order, in the order of its choices."""
    options = order.options
    found = []
    for choice, rid in enumerate(order.rids()):
        prompt = order.prompts[order.prompt_of(choice)]
        sampling = SamplingParams(
            max_tokens=_max_tokens(order, len(prompt), identity),
            temperature=options.temperature,
            top_p=options.top_p,
            seed=None if options.seed is None else (options.seed + choice % options.n) % _SEEDS,
            stop_token_ids=options.stop_token_ids | frozenset(identity.eos_token_ids),
            ignore_eos=options.ignore_eos,
        )
        check = AnswerText(tokenizer, options.stop).reaches_stop if options.stop else None
        found.append(Submission(GenerationRequest(rid, prompt, sampling, options.namespace), check))
    return found


def _max_tokens(order: Order, prompt_len: int, identity: Identity) -> int:
    """What was asked, else the endpoint's default, else all the room there is."""
    if order.options.max_tokens is not None:
        return order.options.max_tokens
    if order.default_max_tokens is not None:
        return order.default_max_tokens
    return max(1, min(identity.context_length, identity.max_total_num_tokens) - prompt_len)
