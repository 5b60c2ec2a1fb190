"""Names come from files and servers: whatever they hold is shown as text, everywhere."""

from __future__ import annotations

import io
import json
from dataclasses import fields, is_dataclass, replace
from functools import cache

import pytest
from rich.console import Console

from radixbench.capture.model import Capture
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.report.console import print_view
from radixbench.report.console.printing import plain_lines
from radixbench.report.html import render as page
from radixbench.report.markdown import LIMIT, render
from radixbench.report.model import ReportView
from radixbench.report.view import build_view
from tests.builders import failed_request, make_sweep

EVIL = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>'\"&lt; | `id` **b** [l](javascript:x) @octocat #1"
    "\x1b[2J\x1b]0;owned\x07\x9b31m\r\n\n\u202egnp.exe\u2066\u200b{{ 7*7 }} ${x} https://evil.example/?q=1\x00"
)
KEPT = {
    "mode",
    "schema",
    "status",
    "declared",
    "output_source",
    "engine",
    "history",
    "kind",
    "off_mode",
    "sha256",
}
"""Words that a capture's schema fixes."""


def spoil(value: object, name: str = "") -> object:
    """Every free text within, hostile; keys of tables too."""
    if isinstance(value, str):
        return value if name in KEPT or name.endswith(("sha256", "digest", "rid")) else EVIL
    if isinstance(value, dict):
        return {
            (key if name in {"cell", "identity"} else f"{key}{EVIL}"): spoil(item, key)
            for key, item in value.items()
        }
    if is_dataclass(value):
        return replace(
            value, **{field.name: spoil(getattr(value, field.name), field.name) for field in fields(value)}
        )
    if isinstance(value, tuple):
        return tuple(spoil(item, name) for item in value)
    return value


def spoiled(capture: Capture) -> Capture:
    """Names, settings, errors, notes and machine of a capture; the scenario's words of choice stay."""
    scenario = replace(capture.scenario, name=EVIL, why=EVIL, expect=EVIL)
    runs = []
    for run in capture.runs:
        request = failed_request(7)
        requests = (*run.requests[:7], replace(request, error=EVIL, model=EVIL, finish_reason=EVIL))
        runs.append(
            replace(
                run,
                cell={**run.cell, f"axis{EVIL}": EVIL},
                error=EVIL,
                server=spoil(replace(run.server, engine="bundled", args={"threads": 1, "path": "x"})),
                protocol=spoil(run.protocol),
                telemetry=spoil(run.telemetry),
                requests=requests,
            )
        )
    return replace(
        capture, scenario=scenario, environment=spoil(capture.environment), runs=tuple(runs), interrupted=True
    )


@cache
def built() -> tuple[object, ReportView]:
    """A comparison of two captures that are hostile in every field, and its view."""
    a, b = (spoiled(arm) for arm in make_sweep())
    other = replace(
        b,
        runs=tuple(
            replace(r, server=replace(r.server, model=EVIL + "2", version=EVIL + "3")) for r in b.runs
        ),
    )
    comparison = compare(a, other, a_path=EVIL, b_path=EVIL)
    return comparison, build_view(comparison, a, other)


def controls(text: str) -> set[str]:
    """Characters that a terminal or a reader's eye would obey."""
    return {c for c in text if not c.isprintable() and c != "\n"}


def test_json_stays_json():
    """One document, which says what the captures say, character for character."""
    document = to_document(built()[0])
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["a"]["path"] == EVIL
    assert controls(json.dumps(document)) == set()


def test_markdown_tables_hold_and_nothing_is_live():
    """As many columns in every row, no markup, no mention, no link, no hidden or turned character."""
    told = render(built()[1])
    assert len(told) <= LIMIT
    assert controls(told) <= {"\u200b"}  # ours: what breaks mentions and links
    assert "<script" not in told
    assert "<img" not in told
    assert "@octocat" not in told
    assert "https://evil" not in told
    tables = [[]]
    for line in told.splitlines():
        if line.startswith("|"):
            tables[-1].append(line.replace("\\\\", "").replace("\\|", "").count("|"))
        elif tables[-1]:
            tables.append([])
    assert sum(map(bool, tables)) >= 2
    assert all(len(set(table)) == 1 for table in tables if table)
    assert told.replace("\\`", "").count("`") == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_obeys_nothing(terminal):
    """Neither escapes nor other control characters reach it but our own colours."""
    out = io.StringIO()
    print_view(built()[1], Console(file=out, force_terminal=terminal, width=160, color_system=None))
    assert controls(out.getvalue()) == set()
    assert all(controls(line) == set() and "\n" not in line for line in plain_lines(built()[1]))


def test_a_page_runs_nothing_of_it():
    """In HTML every name is text, in attributes, figures and data alike."""
    shown = page(built()[1])
    assert "<script>alert(1)" not in shown
    assert "<img src=x" not in shown
    assert "onerror=alert(2)>" not in shown
    assert "\x1b" not in shown
