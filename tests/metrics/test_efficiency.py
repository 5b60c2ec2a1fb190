"""Hit efficiency: a share of what was possible, or why there is none."""

from __future__ import annotations

import pytest

from radixbench.metrics.summary import summarise
from tests.builders import arm_run, make_request, make_run


def test_efficiency_is_a_share_of_what_was_possible() -> None:
    """Seven of seven later requests found the prefix: 1; none of them: 0."""
    for hits, efficiency in ((True, 1.0), (False, 0.0)):
        run = arm_run(seed=0, mode="on", order=0, ttft_s=0.1, shared=64, hits=hits)
        assert summarise(run).figures["hit_efficiency"].value == pytest.approx(efficiency)


def test_no_efficiency_has_a_reason() -> None:
    """Nothing to reuse, a silent server, a cache that is off, and nothing at all."""
    silent = arm_run(seed=0, mode="on", order=0, ttft_s=0.1, shared=64)
    requests = [
        make_request(r.prompt, send_s=float(r.prompt), prompt_tokens=72, cached=None) for r in silent.requests
    ]
    runs = {
        "nothing was to be reused": make_run([make_request(0)]),
        "the server doesn't report cached tokens": make_run(requests, prompts=[range(10, 82)] * 8),
        "the cache is off": arm_run(seed=0, mode="off", order=0, ttft_s=0.1, shared=64),
        "no request has possible token counts": make_run([]),
    }
    for reason, run in runs.items():
        figure = summarise(run).figures["hit_efficiency"]
        assert figure.value is None
        assert (figure.reason or "").startswith(reason)
