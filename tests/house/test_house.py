"""The house rules that no linter checks by itself, and proof that those which one checks do bite."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from radixbench import __version__
from radixbench.metrics.registry import METRICS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "radixbench"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMELESS = {"utils", "common", "helpers", "core", "base", "manager", "misc"}


def _pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _distribution(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def test_no_room_without_a_name() -> None:
    """Folders and files are named by what they hold."""
    assert not [path for path in PACKAGE.rglob("*") if path.stem in NAMELESS]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_is_of_one_noun(module: Path) -> None:
    """A module opens with why it exists and stays short enough to be read at once."""
    source = module.read_text()
    assert len(source.splitlines()) <= 350
    if source.strip() and module.name != "__init__.py":
        assert ast.get_docstring(ast.parse(source))


def test_every_dependency_is_pinned_for_ci() -> None:
    """constraints.txt holds an exact version of everything pyproject.toml asks for, torch's CPU-capable one among them."""
    project = _pyproject()["project"]
    assert isinstance(project, dict)
    wanted = {
        _distribution(item) for item in project["dependencies"] + project["optional-dependencies"]["dev"]
    }
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {_distribution(line) for line in lines if "==" in line}
    assert wanted <= pinned
    assert "torch==2.13.0" in lines


@pytest.mark.parametrize(
    ("library", "outside"),
    [
        ("torch", "engine/x.py"),
        ("transformers", "bench/x.py"),
        ("aiohttp", "client/http.py"),
        ("pynvml", "telemetry/sampler.py"),
        ("psutil", "bench/x.py"),
        ("time", "engine/x.py"),
        ("rich", "bench/x.py"),
        ("pydantic", "capture/model.py"),
        ("scipy", "metrics/x.py"),
    ],
)
def test_a_library_has_one_door(library: str, outside: str) -> None:
    """Importing a third-party library anywhere but through its door fails the linter."""
    where = (PACKAGE / outside).resolve()
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", str(where), "-"],
        input=f"import {library}\n",
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert "TID251" in found.stdout, found.stdout + found.stderr


DOORS = {
    "torch": ("model/",),
    "transformers": ("model/",),
    "aiohttp": ("client/http.py", "server/"),
    "pynvml": ("telemetry/nvml.py",),
    "psutil": ("telemetry/probes.py", "capture/environment.py"),
    "time": ("clock.py", "capture/environment.py"),
    "jinja2": ("report/",),
    "altair": ("report/",),
    "vl_convert": ("report/",),
    "scipy": ("stats/",),
    "typer": ("cli/",),
    "rich": ("cli/", "report/console/"),
    "pydantic": ("scenario/load.py", "capture/store.py"),
    "yaml": ("scenario/load.py", "capture/store.py"),
    "datasets": ("corpus/",),
    "prometheus_client": ("server/", "bench/"),
    "zstandard": ("capture/store.py", "logs/reader.py", "corpus/"),
}


def _imported(module: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_every_import_passes_its_door() -> None:
    """The linter exempts a door's files from all bans at once; here each library is held to its own door."""
    trespassers = [
        (str(module.relative_to(PACKAGE)), library)
        for module in MODULES
        for library in _imported(module) & DOORS.keys()
        if not str(module.relative_to(PACKAGE)).startswith(DOORS[library])
    ]
    assert not trespassers


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["compare", "--help"], ["sweep", "--help"]])
def test_start_up_needs_no_torch(arguments: list[str]) -> None:
    """Commands that run no model never import torch, transformers or a chart library."""
    heavy = ("torch", "transformers", "altair", "vl_convert", "pandas", "datasets", "scipy.stats")
    block = f"import sys; [sys.modules.__setitem__(name, None) for name in {heavy}]; "
    call = f"from radixbench.cli.main import run; sys.exit(run({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", block + call], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ci_calls_the_command_the_readme_names() -> None:
    """People and CI test with the same command."""
    assert "make test" in (ROOT / "README.md").read_text()
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_a_module_is_run_as_the_script_is() -> None:
    """``python -m radixbench --version`` prints the package's version."""
    done = subprocess.run(
        [sys.executable, "-m", "radixbench", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"radixbench {__version__}\n"


def test_the_readme_quotes_the_registry() -> None:
    """The README's table of metrics is the registry's, word for word."""
    readme = (ROOT / "README.md").read_text()
    for metric in METRICS.values():
        assert f"| `{metric.name}` | {metric.unit} | {metric.formula} |" in readme


def test_the_committed_report_is_that_of_the_committed_captures(tmp_path: Path) -> None:
    """The example page is what the example captures give today."""
    pair = [f"captures/example/{mode}.json.gz" for mode in ("on", "off")]
    page = tmp_path / "example.html"
    command = [sys.executable, "-m", "radixbench", "compare", *pair, "--report", str(page)]
    subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    assert page.read_text() == (ROOT / "reports" / "example.html").read_text()
