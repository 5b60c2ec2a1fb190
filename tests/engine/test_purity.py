"""The engine needs the standard library and numpy, and nothing else."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import builtins, sys

allowed = {"radixbench", "numpy"} | set(sys.stdlib_module_names)
real = builtins.__import__

def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    package = (globals or {}).get("__name__", "").partition(".")[0]
    if package == "radixbench" and level == 0 and name.partition(".")[0] not in allowed:
        raise ImportError(f"{globals['__name__']} imports {name}")
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = guarded
sys.modules["torch"] = None

from radixbench.clock import ManualClock
from radixbench.engine.batch import SamplingParams
from radixbench.engine.config import EngineConfig
from radixbench.engine.engine import Engine, GenerationRequest
from radixbench.engine.runner import ScriptedRunner

clock = ManualClock()
runner = ScriptedRunner(clock=clock, pool_slots=64, vocab_size=100)
engine = Engine(EngineConfig(max_total_tokens=64, context_len=64), runner, clock)
engine.add(GenerationRequest("a", (1, 2, 3), SamplingParams(max_tokens=3)))
tokens = []
while engine.has_work:
    tokens += engine.step().tokens
engine.audit()
print(len(tokens), sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "transformers", "aiohttp"}))
"""


def test_the_engine_runs_without_torch() -> None:
    """With torch unimportable the engine imports, serves and audits, and pulls in no other library."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 ['torch']\n"
