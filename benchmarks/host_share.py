"""What tree and scheduler cost: their share of a run's steps on 100 prompts without any reuse.

    python benchmarks/host_share.py [--model smollm2-135m]

Nothing is shared, so that the tree only costs. The time is measured inside the engine, step by step, and
read from the capture. Aim: at most 0.3 % with ``smollm2-135m``. The last line on stdout is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from radixbench.capture.store import load

SCENARIO = """\
name: host-share
why: 100 prompts that share nothing
model:
  name: {model}
workload:
  shared: [0]
  groups: 10
  prompts_per_group: 10
  question_len: 128
  output_len: 16
load:
  max_concurrency: 8
seeds: 1
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="smollm2-135m")
    model = parser.parse_args().model
    with tempfile.TemporaryDirectory() as folder:
        scenario, capture = Path(folder) / "host-share.yaml", Path(folder) / "on.json"
        scenario.write_text(SCENARIO.format(model=model))
        command = [sys.executable, "-m", "radixbench", "run", str(scenario), "-o", str(capture)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        (run,) = load(capture).runs
    host = np.array([step.host_ns for step in run.steps])
    whole = np.array([step.end_ns - step.start_ns for step in run.steps])
    document = {
        "benchmark": "host_share",
        "model": model,
        "requests": len(run.requests),
        "steps": len(run.steps),
        "steps_complete": run.steps_complete,
        "host_share": host.sum() / whole.sum(),
        "host_share_of_run": host.sum() / (run.end_ns - run.start_ns),
        "host_us_per_step": {q: float(np.quantile(host, q / 100) / 1e3) for q in (50, 90, 99)},
        "step_ms": {q: float(np.quantile(whole, q / 100) / 1e6) for q in (50, 90, 99)},
    }
    print(f"{model}: tree and scheduler take {document['host_share']:.3%} of {len(run.steps)} steps")
    print(json.dumps(document))


if __name__ == "__main__":
    main()
