"""``radixbench model``: which models are at hand, and fetching the one with real weights."""

from __future__ import annotations

from typing import Annotated

import typer

from radixbench.cli import options
from radixbench.cli.app import app
from radixbench.cli.stderr import say
from radixbench.errors import EXIT_OK

models = typer.Typer(no_args_is_help=True, help="Models at hand: list, fetch.")
app.add_typer(models, name="model")


@models.command("list")
def list_(as_json: options.Json = False) -> int:
    """List the models that have a name of their own."""
    from dataclasses import asdict

    from radixbench.cli import output
    from radixbench.model.catalog import list_models

    entries = list_models()
    if as_json:
        document = [{**asdict(entry), "where": entry.where and str(entry.where)} for entry in entries]
        output.print_json({"schema": "radixbench.models/1", "models": document})
        return EXIT_OK
    for entry in entries:
        output.print_check("ok" if entry.downloaded else "note", entry.name, entry.what, None)
    say("any hub id, local directory or .gguf file works as --model too")
    return EXIT_OK


@models.command()
def fetch(name: Annotated[str, typer.Argument(help="A name from `radixbench model list`.")]) -> int:
    """Fetch a model's weights into the user's cache directory."""
    from radixbench.model.catalog import fetch as fetch_model

    where = fetch_model(name, on_note=say)
    say(f"{name} is ready" if where is None else f"{name} is ready in {where}")
    return EXIT_OK
