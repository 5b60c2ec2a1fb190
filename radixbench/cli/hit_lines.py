"""What ``simulate hits`` found, as plain lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from radixbench.report.console.plain import clean
from radixbench.report.text import MISSING, count, plural


def hit_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """One line for each cache, after what was read and what was left out; what the rate means comes last."""
    yield from traffic_lines(document)
    for row in document["rows"]:
        yield _row_line(row)
    yield definition_line(document)


def traffic_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What was read, what was left out of it, and what is to be known of it."""
    corpus = document["corpus"]
    yield clean(
        f"{corpus['name']}: {corpus['format']}, {count(corpus['items_used'])} of {count(corpus['items_read'])}"
        " items used"
    )
    for reason, number in corpus["dropped"].items():
        yield clean(f"dropped: {count(number)} x {reason}")
    for note in corpus["notes"]:
        yield clean(f"note: {note}")
    yield from _dialogue_lines(document)


def definition_line(document: Mapping[str, Any]) -> str:
    """What the rates mean."""
    return f"definition: {document['definition']}"


def room_words(row: Mapping[str, Any]) -> str:
    """The capacity of a row's cache: ``unlimited``, ``4,096 tokens``."""
    return "unlimited" if row["capacity_tokens"] is None else f"{count(row['capacity_tokens'])} tokens"


def left_out_words(row: Mapping[str, Any]) -> str:
    """Which requests a row leaves out of its sums, "" where it leaves out none."""
    skipped = row["skipped_requests"]
    if not skipped:
        return ""
    return f"{plural(skipped, 'request')} longer than the cache left out of the rate, which is of fewer prompt tokens"


def _dialogue_lines(document: Mapping[str, Any]) -> Iterator[str]:
    if "tokenizer" not in document:
        return
    yield clean(
        f"tokens of {document['tokenizer']}, history {document['history']}, order {document['order']}"
    )
    if document["refused_requests"]:
        yield clean(
            f"note: {count(document['refused_requests'])} requests left out: {document['first_refusal']}"
        )
    first = document["first_departure"]
    if first is not None:
        yield clean(
            f"note: of {count(document['later_turns'])} later prompts {count(document['prompt_departures'])} depart from"
            f" the prompt before and {count(document['answer_departures'])} from the answer before: turn {first['turn']}"
            f" of {first['chat']} at token {count(first['position'])}"
        )


def _row_line(row: Mapping[str, Any]) -> str:
    words = [
        f"page {row['page_size']}, {room_words(row)}: hit rate {percent(row['hit_rate'])}",
        f"{count(row['cached_tokens'])} of {count(row['prompt_tokens'])} prompt tokens of {count(row['requests'])} requests",
    ]
    if row["reuse_rate"] is not None:
        words.append(f"reuse rate {percent(row['reuse_rate'])}")
    if row["blocks"] is not None:
        words.append(f"block hit rate {percent(row['block_hit_rate'])}")
    if row["evicted_tokens"]:
        words.append(f"{count(row['evicted_tokens'])} evicted")
    if left_out_words(row):
        words.append(left_out_words(row))
    return ", ".join(words)


def percent(rate: float | None) -> str:
    """A rate to a hundredth of a percent; a dash for none."""
    return MISSING if rate is None else f"{rate:.2%}".replace("%", " %")
