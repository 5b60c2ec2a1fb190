"""The Typer application that every command puts itself on."""

from __future__ import annotations

import typer

from radixbench import __version__

app = typer.Typer(
    name="radixbench",
    help="What is prefix caching worth on my model, my card, my traffic, and can I trust the number?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"radixbench {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and leave.", callback=_print_version, is_eager=True
    ),
) -> None:
    del version
