"""``radixbench model``: what is at hand, and what can't be fetched."""

from __future__ import annotations

from tests.cli.conftest import Command


def test_list_says_what_is_at_hand(command: Command) -> None:
    """A line for each known model, ticked where it needs no download; other kinds are told on stderr."""
    outcome = command("model", "list")
    tiny, smollm2 = outcome.out.splitlines()
    assert outcome.code == 0
    assert tiny.startswith("✓ tiny: 2 layers, random weights, built in")
    assert smollm2.startswith("• smollm2-135m: ")
    assert "93 MB to download" in smollm2
    assert "any hub id, local directory or .gguf file" in outcome.err


def test_list_as_json(command: Command) -> None:
    """One document; a model that isn't on disk lies nowhere."""
    outcome = command("model", "list", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["schema"] == "radixbench.models/1"
    models = {model["name"]: model for model in outcome.document["models"]}
    assert {name: model["downloaded"] for name, model in models.items()} == {
        "tiny": True,
        "smollm2-135m": False,
    }
    assert models["smollm2-135m"]["where"] is None


def test_fetching_an_unknown_name_is_refused(command: Command) -> None:
    """One line with the nearest name and all that would do; nothing is downloaded."""
    outcome = command("model", "fetch", "smollm-135m")
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.err.splitlines()
    assert line.startswith("radixbench: unknown model 'smollm-135m'; did you mean smollm2-135m?")
    assert "known: tiny, smollm2-135m" in line


def test_fetching_what_is_built_in(command: Command) -> None:
    """``tiny`` is ready as it is."""
    outcome = command("model", "fetch", "tiny")
    assert (outcome.code, outcome.err) == (0, "tiny is ready\n")
