"""Comparing two files must start fast: no model, no server, no slow statistics."""

from __future__ import annotations

import subprocess
import sys


def test_comparing_loads_nothing_heavy() -> None:
    """Importing the comparison brings in neither torch nor scipy.stats nor a plotting or web library."""
    heavy = ("torch", "transformers", "scipy.stats", "aiohttp", "altair", "datasets", "pydantic")
    code = (
        "import sys, radixbench.compare.comparison, radixbench.compare.document, radixbench.compare.gate;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
