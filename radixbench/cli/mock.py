"""``radixbench mock``: a server whose behaviour is known exactly, to test clients, protocols and this tool against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from radixbench.cli.app import app

_PACE = "When tokens come"
_SHAPE = "How they are cut up"
_COUNTS = "What answers say of themselves"
_FAULTS = "What goes wrong"
_CACHE = "The cache"
_LIES = "What is said that isn't so"


@app.command()
def mock(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = 0,
    dialect: Annotated[
        str, typer.Option(help="Whose metrics and flush: sglang, vllm or llamacpp.")
    ] = "sglang",
    model: Annotated[str, typer.Option("--model", "--served-model-name", help="Name of the model.")] = "mock",
    seed: Annotated[int, typer.Option(help="Answers and chosen requests follow from it.")] = 0,
    vocab_size: Annotated[int, typer.Option(help="Token ids run below it.")] = 8192,
    context_length: Annotated[int, typer.Option(help="Most tokens of prompt and answer together.")] = 131_072,
    answer_tokens: Annotated[
        int | None, typer.Option(help="Answers end by themselves here, unless ignore_eos is sent.")
    ] = None,
    write_log: Annotated[
        Path | None, typer.Option(help="Write each request's due and true write times here, as JSON lines.")
    ] = None,
    keep_requests: Annotated[int, typer.Option(help="Requests kept for GET /mock/writes.")] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ready line as JSON.")] = False,
    exit_on_stdin_eof: Annotated[bool, typer.Option("--exit-on-stdin-eof", hidden=True)] = False,
    ttft: Annotated[float, typer.Option(help="Seconds to the first token.", rich_help_panel=_PACE)] = 0.0,
    ttft_per_token: Annotated[
        float,
        typer.Option(help="More seconds for each prompt token that isn't cached.", rich_help_panel=_PACE),
    ] = 0.0,
    gap: Annotated[
        float, typer.Option(help="Seconds between events with tokens.", rich_help_panel=_PACE)
    ] = 0.0,
    jitter: Annotated[
        float,
        typer.Option(
            help="Seeded spread of every wait: 0.2 is a factor from 0.8 to 1.2.", rich_help_panel=_PACE
        ),
    ] = 0.0,
    tokens_per_frame: Annotated[int, typer.Option(help="Tokens of one event.", rich_help_panel=_SHAPE)] = 1,
    frames_per_write: Annotated[int, typer.Option(help="Events of one write.", rich_help_panel=_SHAPE)] = 1,
    split_bytes: Annotated[
        int | None, typer.Option(help="Cut every write into pieces of this size.", rich_help_panel=_SHAPE)
    ] = None,
    split_gap: Annotated[
        float, typer.Option(help="Seconds between such pieces.", rich_help_panel=_SHAPE)
    ] = 0.0,
    line_end: Annotated[
        str, typer.Option(help="Lines of events end in lf, crlf or cr.", rich_help_panel=_SHAPE)
    ] = "lf",
    role_chunk: Annotated[
        bool, typer.Option("--role-chunk/--no-role-chunk", help="Chats open with it.", rich_help_panel=_SHAPE)
    ] = True,
    reasoning: Annotated[
        str,
        typer.Option(
            help="Chats' channel for it: none, reasoning_content or reasoning.", rich_help_panel=_SHAPE
        ),
    ] = "none",
    reasoning_tokens: Annotated[
        int, typer.Option(help="How many tokens go there first.", rich_help_panel=_SHAPE)
    ] = 0,
    letters: Annotated[
        str, typer.Option(help="What words are made of: plain, multibyte or blank.", rich_help_panel=_SHAPE)
    ] = "plain",
    comment_every: Annotated[
        int | None, typer.Option(help="A comment after every N-th event.", rich_help_panel=_SHAPE)
    ] = None,
    ping_interval: Annotated[
        float | None, typer.Option(help="A comment every so many seconds.", rich_help_panel=_SHAPE)
    ] = None,
    empty_choices: Annotated[
        bool,
        typer.Option("--empty-choices", help="Open with an event without choices.", rich_help_panel=_SHAPE),
    ] = False,
    finish_apart: Annotated[
        bool,
        typer.Option("--finish-apart", help="The finish reason in an event alone.", rich_help_panel=_SHAPE),
    ] = False,
    late_head: Annotated[
        bool, typer.Option("--late-head", help="Send no head before an event.", rich_help_panel=_SHAPE)
    ] = False,
    usage: Annotated[
        str, typer.Option(help="asked, always, never, last or continuous.", rich_help_panel=_COUNTS)
    ] = "asked",
    usage_missing: Annotated[
        str, typer.Option(help="Answers without usage.", rich_help_panel=_COUNTS)
    ] = "never",
    cached: Annotated[
        str,
        typer.Option(
            help="Cached tokens in usage: always, nonzero (0 left out), never.", rich_help_panel=_COUNTS
        ),
    ] = "always",
    cached_missing: Annotated[
        str, typer.Option(help="Answers whose usage lacks them.", rich_help_panel=_COUNTS)
    ] = "never",
    overcount: Annotated[
        int, typer.Option(help="Cached tokens added that never were.", rich_help_panel=_COUNTS)
    ] = 0,
    overcounted: Annotated[str, typer.Option(help="In which answers.", rich_help_panel=_COUNTS)] = "all",
    fail: Annotated[
        list[str] | None,
        typer.Option(help="STATUS=WHICH, as 429=1/3 or 503=first:20; repeatable.", rich_help_panel=_FAULTS),
    ] = None,
    retry_after: Annotated[
        float | None, typer.Option(help="Seconds said with 429 and 503.", rich_help_panel=_FAULTS)
    ] = None,
    cut_after_bytes: Annotated[
        int | None,
        typer.Option(help="End the connection after so many bytes.", rich_help_panel=_FAULTS),
    ] = None,
    cut_step: Annotated[
        int, typer.Option(help="So many bytes more in each request after.", rich_help_panel=_FAULTS)
    ] = 0,
    cut_kind: Annotated[str, typer.Option(help="reset or close.", rich_help_panel=_FAULTS)] = "reset",
    cut: Annotated[str, typer.Option(help="In which requests.", rich_help_panel=_FAULTS)] = "all",
    stall_after: Annotated[
        int | None, typer.Option(help="Stop after so many events.", rich_help_panel=_FAULTS)
    ] = None,
    stall: Annotated[
        float | None,
        typer.Option(help="For so many seconds.", show_default="for ever", rich_help_panel=_FAULTS),
    ] = None,
    stalled: Annotated[str, typer.Option(help="In which requests.", rich_help_panel=_FAULTS)] = "all",
    error_after: Annotated[
        int | None, typer.Option(help="An error event after so many events.", rich_help_panel=_FAULTS)
    ] = None,
    erring: Annotated[str, typer.Option(help="In which requests.", rich_help_panel=_FAULTS)] = "all",
    empty: Annotated[str, typer.Option(help="Answers without a token.", rich_help_panel=_FAULTS)] = "never",
    no_done: Annotated[str, typer.Option(help="Streams without [DONE].", rich_help_panel=_FAULTS)] = "never",
    answer_model: Annotated[
        str | None, typer.Option(help="The model that answers name instead.", rich_help_panel=_FAULTS)
    ] = None,
    renamed: Annotated[str, typer.Option(help="In which answers.", rich_help_panel=_FAULTS)] = "all",
    disable_radix_cache: Annotated[
        bool, typer.Option("--disable-radix-cache", help="Reuse nothing.", rich_help_panel=_CACHE)
    ] = False,
    page_size: Annotated[int, typer.Option(help="Tokens of a page.", rich_help_panel=_CACHE)] = 1,
    cache_tokens: Annotated[
        int,
        typer.Option(
            "--cache-tokens",
            "--max-total-tokens",
            help="Cached beyond this, the oldest go.",
            rich_help_panel=_CACHE,
        ),
    ] = 1 << 20,
    ignore_salt: Annotated[
        bool,
        typer.Option("--ignore-salt", help="Share whatever cache_salt says.", rich_help_panel=_CACHE),
    ] = False,
    outer_tier: Annotated[
        bool,
        typer.Option("--outer-tier", help="A second copy that a plain flush spares.", rich_help_panel=_CACHE),
    ] = False,
    prewarmed: Annotated[
        int,
        typer.Option(help="First tokens of any prompt that are cached already.", rich_help_panel=_CACHE),
    ] = 0,
    finds: Annotated[
        str,
        typer.Option(
            help="What is ever found: all, repeats (never a prompt that goes on) or extensions (never a repeat).",
            rich_help_panel=_CACHE,
        ),
    ] = "all",
    flush: Annotated[
        str,
        typer.Option(
            help="honest, lies (nothing is done), unsuccessful (success: false), absent (404).",
            rich_help_panel=_LIES,
        ),
    ] = "honest",
    flush_refusals: Annotated[
        int, typer.Option(help="First refuse so many with 400.", rich_help_panel=_LIES)
    ] = 0,
    metrics: Annotated[str, typer.Option(help="on, absent or frozen.", rich_help_panel=_LIES)] = "on",
    metrics_cached_factor: Annotated[
        float, typer.Option(help="Scale of the counter of cached tokens.", rich_help_panel=_LIES)
    ] = 1.0,
) -> int:
    """Serve made-up answers over HTTP exactly as told, and log when each byte was really written.

    Which requests something happens to is given as all, never, 1/N for every N-th, first:N, or a share such as 0.1.
    """
    import math

    from radixbench.mock import settings as given
    from radixbench.mock.app import serve
    from radixbench.mock.which import parse_which
    from radixbench.mock.wording import choose, parse_failure

    return serve(
        given.MockSettings(
            host=host,
            port=port,
            dialect=choose("--dialect", dialect, given.Dialect),
            model=model,
            seed=seed,
            vocab_size=vocab_size,
            context_len=context_length,
            answer_tokens=answer_tokens,
            keep_requests=keep_requests,
            write_log=write_log,
            pace=given.Pace(ttft, ttft_per_token, gap, jitter),
            shape=given.Shape(
                tokens_per_frame=tokens_per_frame,
                frames_per_write=frames_per_write,
                split_bytes=split_bytes,
                split_gap_s=split_gap,
                line_end=choose("--line-end", line_end, given.LineEnd),
                role_chunk=role_chunk,
                reasoning=choose("--reasoning", reasoning, given.Reasoning),
                reasoning_tokens=reasoning_tokens,
                letters=choose("--letters", letters, given.Letters),
                comment_every=comment_every,
                ping_interval_s=ping_interval,
                empty_choices=empty_choices,
                finish_apart=finish_apart,
                early_head=not late_head,
            ),
            reporting=given.Reporting(
                usage=choose("--usage", usage, given.UsageMode),
                usage_missing=parse_which(usage_missing, "--usage-missing"),
                cached=choose("--cached", cached, given.CachedMode),
                cached_missing=parse_which(cached_missing, "--cached-missing"),
                overcount=overcount,
                overcounted=parse_which(overcounted, "--overcounted"),
            ),
            faults=given.Faults(
                failures=tuple(parse_failure(text) for text in fail or ()),
                retry_after_s=retry_after,
                cut_after_bytes=cut_after_bytes,
                cut_step=cut_step,
                cut_kind=choose("--cut-kind", cut_kind, given.CutKind),
                cut=parse_which(cut, "--cut"),
                stall_after_frames=stall_after,
                stall_s=math.inf if stall is None else stall,
                stalled=parse_which(stalled, "--stalled"),
                error_after_frames=error_after,
                erring=parse_which(erring, "--erring"),
                empty=parse_which(empty, "--empty"),
                no_done=parse_which(no_done, "--no-done"),
                answer_model=answer_model,
                renamed=parse_which(renamed, "--renamed"),
            ),
            cache=given.CacheSettings(
                enabled=not disable_radix_cache,
                page_size=page_size,
                capacity_tokens=cache_tokens,
                honours_salt=not ignore_salt,
                outer_tier=outer_tier,
                prewarmed_tokens=prewarmed,
                finds=choose("--finds", finds, given.Finds),
            ),
            lies=given.Lies(
                flush=choose("--flush", flush, given.FlushMode),
                flush_refusals=flush_refusals,
                metrics=choose("--metrics", metrics, given.MetricsMode),
                metrics_cached_factor=metrics_cached_factor,
            ),
        ),
        as_json=as_json,
        exit_on_stdin_eof=exit_on_stdin_eof,
    )
