"""Options that several commands share, spelled once; each is named as most benchmark tools name it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

_WORKLOAD = "Workload"
_SERVER = "Server"
_OUTPUT = "Output"

Model = Annotated[
    str | None,
    typer.Option(
        "--model", help="tiny, smollm2-135m, a hub id, a directory or a .gguf file.", show_default="tiny"
    ),
]
Shared = Annotated[
    str | None,
    typer.Option("--shared", help="Shared prefix lengths in tokens: 0,1024,4096.", rich_help_panel=_WORKLOAD),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds", help="How many seeds: 0 … N-1; three are needed for a verdict.", rich_help_panel=_WORKLOAD
    ),
]
Workload = Annotated[
    str | None, typer.Option("--workload", help="shared-prefix or multi-turn.", rich_help_panel=_WORKLOAD)
]
Turns = Annotated[
    str | None,
    typer.Option("--turns", help="Turns per conversation (multi-turn): 1,4.", rich_help_panel=_WORKLOAD),
]
Groups = Annotated[
    int | None,
    typer.Option("--groups", help="Groups, each with a prefix of its own.", rich_help_panel=_WORKLOAD),
]
PromptsPerGroup = Annotated[
    int | None, typer.Option("--prompts-per-group", help="Prompts of each group.", rich_help_panel=_WORKLOAD)
]
QuestionLen = Annotated[
    int | None,
    typer.Option(
        "--question-len", help="Tokens of each question: 128 (tiny on a CPU: 32).", rich_help_panel=_WORKLOAD
    ),
]
OutputLen = Annotated[
    int | None,
    typer.Option(
        "--output-len", help="Tokens of each answer: 64 (tiny on a CPU: 16).", rich_help_panel=_WORKLOAD
    ),
]
MaxConcurrency = Annotated[
    int | None,
    typer.Option("--max-concurrency", help="Requests in flight at most.", rich_help_panel=_WORKLOAD),
]
CacheState = Annotated[
    str | None,
    typer.Option(
        "--cache-state", help="What the cache holds when measuring starts: cold.", rich_help_panel=_WORKLOAD
    ),
]
Device = Annotated[str | None, typer.Option("--device", help="auto, cpu or cuda.", rich_help_panel=_SERVER)]
Dtype = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        help="auto (float32 on CPU, bfloat16 on CUDA), float32, bfloat16, float16.",
        rich_help_panel=_SERVER,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="CPU threads of the server: all cores but one.", rich_help_panel=_SERVER),
]
MaxTotalTokens = Annotated[
    int | None, typer.Option("--max-total-tokens", help="KV slots of the pool.", rich_help_panel=_SERVER)
]
ChunkedPrefillSize = Annotated[
    int | None,
    typer.Option(
        "--chunked-prefill-size", help="Tokens one prefill step computes at most.", rich_help_panel=_SERVER
    ),
]
PageSize = Annotated[
    int | None, typer.Option("--page-size", help="Tokens of a cache page.", rich_help_panel=_SERVER)
]
SchedulePolicy = Annotated[
    str | None, typer.Option("--schedule-policy", help="fcfs or lpm.", rich_help_panel=_SERVER)
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code", help="Let a hub model run code of its repository.", rich_help_panel=_SERVER
    ),
]
KeepText = Annotated[
    bool,
    typer.Option("--keep-text", help="Keep the answers' text in the captures.", rich_help_panel=_OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document on stdout, all else on stderr.", rich_help_panel=_OUTPUT
    ),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write the HTML report here.", rich_help_panel=_OUTPUT)
]
Markdown = Annotated[
    str | None,
    typer.Option(
        "--markdown", help="Write a table for a PR body to a file, or - for stdout.", rich_help_panel=_OUTPUT
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold", help="Changes smaller than this are no better and no worse.", min=0.0, max=10.0
    ),
]


def given(**flags: Any) -> dict[str, Any]:
    """The flags that were given."""
    return {name: value for name, value in flags.items() if value is not None and value is not False}
