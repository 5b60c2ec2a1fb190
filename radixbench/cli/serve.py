"""``radixbench serve``: the bundled engine behind an OpenAI-compatible HTTP server."""

from __future__ import annotations

import typer

from radixbench.cli.app import app


@app.command()
def serve(
    model: str = typer.Option(
        "tiny",
        "--model",
        "--model-path",
        help="Built-in name, hub id, local directory or .gguf file.",
    ),
    host: str = typer.Option("127.0.0.1", help="Address to listen on."),
    port: int = typer.Option(30000, help="Port to listen on; 0 takes a free one."),
    api_key: str | None = typer.Option(None, help="Ask clients for this key."),
    served_model_name: str | None = typer.Option(None, help="Name shown to clients; the model's by default."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
    dtype: str = typer.Option("auto", help="auto, float32, bfloat16 or float16."),
    threads: int | None = typer.Option(None, help="CPU threads; all cores but one by default."),
    context_length: int | None = typer.Option(None, help="Most tokens of prompt and answer together."),
    max_total_tokens: int | None = typer.Option(None, help="Size of the KV pool in tokens."),
    page_size: int = typer.Option(1, help="Tokens per page of the cache."),
    chunked_prefill_size: int = typer.Option(
        4096, help="Most tokens of one prefill step; -1 turns chunks off."
    ),
    max_prefill_tokens: int = typer.Option(16384, help="Most tokens admitted to one prefill batch."),
    max_running_requests: int = typer.Option(256, help="Most requests running at once."),
    schedule_policy: str = typer.Option("fcfs", help="fcfs, or lpm: longest cached prefix first."),
    schedule_conservativeness: float = typer.Option(
        1.0, help="Above 1 reserves more room for answers, below 1 less."
    ),
    disable_radix_cache: bool = typer.Option(False, "--disable-radix-cache", help="Reuse no prefixes."),
    decode_log_interval: int = typer.Option(40, help="Log every n-th decode step."),
    trust_remote_code: bool = typer.Option(False, "--trust-remote-code", help="Run the model's own code."),
    runner: str = typer.Option("model", hidden=True),
    fake_step_cost: str = typer.Option("", hidden=True),
    audit_endpoint: bool = typer.Option(False, "--audit-endpoint", hidden=True),
    exit_on_stdin_eof: bool = typer.Option(False, "--exit-on-stdin-eof", hidden=True),
) -> int:
    """Serve a model over HTTP, with prefix reuse."""
    from radixbench.scenario.model import ModelSpec
    from radixbench.server.app import serve as run_server
    from radixbench.server.config import ServerConfig
    from radixbench.server.flags import choose, parse_step_cost

    return run_server(
        ServerConfig(
            model=ModelSpec(
                name=model,
                device=choose("--device", device, ("auto", "cpu", "cuda")),
                dtype=choose("--dtype", dtype, ("auto", "float32", "bfloat16", "float16")),
                trust_remote_code=trust_remote_code,
            ),
            host=host,
            port=port,
            api_key=api_key,
            served_model_name=served_model_name,
            threads=threads,
            context_len=context_length,
            max_total_tokens=max_total_tokens,
            page_size=page_size,
            chunked_prefill_size=None if chunked_prefill_size == -1 else chunked_prefill_size,
            max_prefill_tokens=max_prefill_tokens,
            max_running_requests=max_running_requests,
            schedule_policy=choose("--schedule-policy", schedule_policy, ("fcfs", "lpm")),
            schedule_conservativeness=schedule_conservativeness,
            radix_cache=not disable_radix_cache,
            decode_log_interval=decode_log_interval,
            runner=choose("--runner", runner, ("model", "fake")),
            fake_cost=parse_step_cost(fake_step_cost),
            audit_endpoint=audit_endpoint,
            exit_on_stdin_eof=exit_on_stdin_eof,
        )
    )
