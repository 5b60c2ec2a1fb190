"""``radixbench simulate``: what the tree alone would have given, without a model and without a server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.stderr import say
from radixbench.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from radixbench.corpus.conversations import Conversations
    from radixbench.corpus.traces import Trace
    from radixbench.scenario.model import CorpusFormat
    from radixbench.simulation.dialogues import History, Order
    from radixbench.simulation.hits import CacheSize

simulate = typer.Typer(no_args_is_help=True, help="The cache without a model: hits.")
app.add_typer(simulate, name="simulate")

_CHATS = ("sharegpt", "openai", "custom")
_TRACES = ("mooncake", "bailian")
_FORMATS = ("auto", *_CHATS, *_TRACES)
_HISTORIES = ("live", "recorded")
_ORDERS = ("rounds", "conversations")
_UNLIMITED = "unlimited"
_MOST_TOKENS = 1 << 40
_TRAFFIC = "Traffic"
_CACHE = "Cache"


@simulate.command()
def hits(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Conversations or a trace: .json, .jsonl, gzip, zstd, .parquet, a wheel.", show_default=False
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="A hub data set instead of a file.", rich_help_panel=_TRAFFIC),
    ] = None,
    split: Annotated[str | None, typer.Option("--split", help="Its split.", rich_help_panel=_TRAFFIC)] = None,
    format_: Annotated[
        str, typer.Option("--format", help=f"{', '.join(_FORMATS)}.", rich_help_panel=_TRAFFIC)
    ] = "auto",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", help="At most so many conversations or requests.", min=1, rich_help_panel=_TRAFFIC
        ),
    ] = None,
    block_size: Annotated[
        int | None,
        typer.Option(
            "--block-size",
            help="Tokens of a trace's hash id.",
            show_default="512 Mooncake, 16 Bailian",
            min=1,
            rich_help_panel=_TRAFFIC,
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            help="Whose tokens and chat template, as for --model.",
            show_default="tiny",
            rich_help_panel=_TRAFFIC,
        ),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            help="live: recorded answers were generated; recorded: they come in as prompt.",
            show_default="live",
            rich_help_panel=_TRAFFIC,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            help="rounds: every conversation's first turn first; conversations: one by one.",
            show_default="rounds",
            rich_help_panel=_TRAFFIC,
        ),
    ] = None,
    page_size: Annotated[
        str, typer.Option("--page-size", help="Tokens of a cache page: 1,16.", rich_help_panel=_CACHE)
    ] = "1",
    capacity: Annotated[
        str,
        typer.Option("--capacity", help="Tokens the cache holds: 100000,unlimited.", rich_help_panel=_CACHE),
    ] = _UNLIMITED,
    as_json: options.Json = False,
) -> int:
    """The hit rate that recorded traffic would reach in caches of given sizes."""
    from radixbench.cli import output
    from radixbench.cli.hit_table import print_hits
    from radixbench.corpus.conversations import load_conversations
    from radixbench.corpus.kind import told_kind
    from radixbench.corpus.traces import load_trace

    kind = cast("CorpusFormat", _one_of("--format", format_, _FORMATS))
    how = cast("History", _one_of("--history", history or "live", _HISTORIES))
    order_ = cast("Order", _one_of("--order", order or "rounds", _ORDERS))
    sizes = _sizes(page_size, capacity)
    traces = kind in _TRACES or (kind == "auto" and file is not None and told_kind(file) == "trace")
    if traces and file is not None and dataset is None:
        _refuse("a trace", tokenizer=tokenizer, history=history, order=order, split=split)
        document = _of_trace(load_trace(file, format=kind, block_size=block_size, limit=limit), sizes)
    else:
        _refuse("conversations", block_size=block_size)
        if file is not None:
            _refuse("a file", split=split)
        found = load_conversations(file, dataset=dataset, split=split, format=kind, limit=limit)
        document = _of_chats(found, sizes, tokenizer or "tiny", how, order_)
    if as_json:
        output.print_json(document)
        return EXIT_OK
    print_hits(document)
    return EXIT_OK


def _of_trace(trace: Trace, sizes: list[CacheSize]) -> dict[str, Any]:
    from radixbench.simulation.hit_row import BLOCK_DEFINITION, DEFINITION
    from radixbench.simulation.trace_hits import trace_hits

    rows = trace_hits(trace.requests, block_size=trace.block_size, sizes=sizes)
    return {
        "schema": "radixbench.simulate/1",
        "definition": DEFINITION + BLOCK_DEFINITION,
        "corpus": asdict(trace.record),
        "block_size": trace.block_size,
        "rows": [asdict(row) for row in rows],
    }


def _of_chats(
    found: Conversations, sizes: list[CacheSize], tokenizer: str, history: History, order: Order
) -> dict[str, Any]:
    from radixbench.model.load_tokenizer import chat_render, load_tokenizer
    from radixbench.simulation.dialogues import Dialogues
    from radixbench.simulation.hit_row import DEFINITION
    from radixbench.simulation.hits import token_hits

    loaded = load_tokenizer(tokenizer, on_note=say)
    dialogues = Dialogues(
        found.chats,
        render=chat_render(loaded),
        encode=lambda text: loaded.encode(text, add_special_tokens=False),
        history=history,
        order=order,
    )
    rows = token_hits(dialogues, sizes)
    first = dialogues.first_departure
    return {
        "schema": "radixbench.simulate/1",
        "definition": DEFINITION,
        "corpus": asdict(found.record),
        "tokenizer": tokenizer,
        "history": history,
        "order": order,
        "refused_requests": dialogues.refused,
        "first_refusal": dialogues.first_refusal,
        "later_turns": dialogues.later_turns,
        "prompt_departures": dialogues.prompt_departures,
        "answer_departures": dialogues.answer_departures,
        "first_departure": None if first is None else asdict(first),
        "rows": [asdict(row) for row in rows],
    }


def _refuse(what: str, **flags: str | int | None) -> None:
    """Flags that mean nothing for what was given."""
    for name, value in flags.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')}: means nothing for {what}", remedy="leave it out")


def _one_of(flag: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise UsageError(f"{flag}: {given!r} isn't known", remedy=f"one of {', '.join(known)}")
    return given


def _sizes(page_size: str, capacity: str) -> list[CacheSize]:
    """Every page size with every capacity."""
    from radixbench.simulation.hits import CacheSize

    pages = [_number("--page-size", word, "1,16") for word in page_size.split(",")]
    rooms = [
        None if word.strip() == _UNLIMITED else _number("--capacity", word, f"100000,{_UNLIMITED}")
        for word in capacity.split(",")
    ]
    for flag, values in (("--page-size", pages), ("--capacity", rooms)):
        twice = next((value for place, value in enumerate(values) if value in values[:place]), 0)
        if twice != 0:
            named = _UNLIMITED if twice is None else twice
            raise UsageError(f"{flag}: {named} stands there twice", remedy="give each value once")
    return [CacheSize(page, room) for page in pages for room in rooms]


def _number(flag: str, word: str, example: str) -> int:
    digits = word.strip().replace("_", "")
    if not (digits.isascii() and digits.isdigit()) or not 0 < int(digits[:20]) <= _MOST_TOKENS:
        raise UsageError(f"{flag}: {word.strip()!r} is no number of tokens", remedy=f"such as {example}")
    return int(digits)
