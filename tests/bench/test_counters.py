"""Servers' own counters, before and after."""

from __future__ import annotations

import pytest

from radixbench.bench import counters
from radixbench.records import ServerCounters

SGLANG = """\
# TYPE sglang:prompt_tokens_total counter
sglang:prompt_tokens_total{{model_name="m",dp_rank="0"}} {prompt}
sglang:prompt_tokens_total{{model_name="m",dp_rank="1"}} 50.0
# TYPE sglang:cached_tokens_total counter
sglang:cached_tokens_total{{model_name="m",cache_source="device"}} {device}
sglang:cached_tokens_total{{model_name="m",cache_source="host"}} {host}
# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{{model_name="m"}} {output}
# TYPE sglang:num_requests_total counter
sglang:num_requests_total{{model_name="m"}} {requests}
# TYPE sglang:num_retracted_requests_total counter
sglang:num_retracted_requests_total{{model_name="m"}} 1.0
# TYPE sglang:evicted_tokens_total counter
sglang:evicted_tokens_total{{model_name="m"}} 7.0
# TYPE sglang:token_usage gauge
sglang:token_usage{{model_name="m"}} NaN
"""


def sglang(prompt: int, device: int, host: int, output: int, requests: int) -> counters.Reading | None:
    """A page of SGLang's metrics with two data-parallel ranks."""
    return counters.read(
        SGLANG.format(prompt=prompt, device=device, host=host, output=output, requests=requests)
    )


def grown(before: str, after: str) -> ServerCounters | None:
    """The difference of two pages."""
    return counters.difference(counters.read(before), counters.read(after))


def test_sglang_sums_ranks_and_keeps_tiers() -> None:
    """Ranks are added up, cached tokens are known in all and by where they lay."""
    found = counters.difference(sglang(100, 10, 0, 5, 2), sglang(400, 110, 20, 25, 6))
    assert found == ServerCounters(
        source="/metrics",
        prompt_tokens=300,
        cached_tokens=120,
        output_tokens=20,
        requests=4,
        preemptions=0,
        evicted_tokens=0,
        cached_by_tier={"device": 100, "host": 20},
    )


def test_a_counter_that_fell_tells_of_a_restart() -> None:
    """A restarted server begins at 0: its growth is unknown, and that is said."""
    found = counters.difference(sglang(100, 10, 0, 5, 2), sglang(40, 10, 0, 5, 2))
    assert found == ServerCounters(source="/metrics", reset=True)


def test_a_counter_that_vanished_tells_of_a_restart() -> None:
    """Labelled counters appear with their first increment, so one that is gone was reset."""
    after = "# TYPE sglang:num_requests_total counter\nsglang:num_requests_total 9.0\n"
    found = counters.difference(sglang(100, 10, 0, 5, 2), counters.read(after))
    assert found is not None
    assert found.reset


def test_a_counter_that_appears_began_at_zero() -> None:
    """Tiers and counters that aren't there before their first increment count from 0."""
    before = "# TYPE sglang:num_requests_total counter\nsglang:num_requests_total 9.0\n"
    after = before + (
        '# TYPE sglang:cached_tokens_total counter\nsglang:cached_tokens_total{cache_source="device"} 64.0\n'
    )
    found = grown(before, after)
    assert found is not None
    assert (found.requests, found.cached_tokens, found.cached_by_tier) == (0, 64, {"device": 64})


@pytest.mark.parametrize("name", ["vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits"])
@pytest.mark.parametrize("ending", ["", "_total"])
def test_vllm_under_its_old_and_new_names(name: str, ending: str) -> None:
    """Hits are tokens; those of an external tier stay apart in the tiers and count in the sum."""
    page = (
        '# TYPE {name} counter\n{name}{ending}{{engine="0"}} {hits}\n'
        "# TYPE vllm:external_prefix_cache_hits counter\nvllm:external_prefix_cache_hits_total {external}\n"
        "# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total {prompt}\n"
        "# TYPE vllm:num_preemptions counter\nvllm:num_preemptions_total 3.0\n"
        '# TYPE vllm:request_success counter\nvllm:request_success_total{{finished_reason="length"}} 4.0\n'
    )
    before = page.format(name=name, ending=ending, hits=16, external=0, prompt=100)
    after = page.format(name=name, ending=ending, hits=48, external=8, prompt=300)
    found = grown(before, after)
    assert found is not None
    assert found.cached_by_tier == {"device": 32, "external": 8}
    assert (found.cached_tokens, found.prompt_tokens, found.preemptions, found.requests) == (40, 200, 0, 0)


def test_newer_llamacpp_counts_cached_tokens_beside_computed_ones() -> None:
    """Prompt tokens are both together."""
    page = (
        "# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total {computed}\n"
        "# TYPE llamacpp:prompt_tokens_cached_total counter\nllamacpp:prompt_tokens_cached_total {cached}\n"
    )
    found = grown(page.format(computed=5, cached=0), page.format(computed=25, cached=256))
    assert found == ServerCounters(source="/metrics", prompt_tokens=276, cached_tokens=256)


def test_older_llamacpp_counts_no_prompts() -> None:
    """Its prompt counter leaves cached tokens out, so it is no count of prompt tokens."""
    page = (
        "# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total {n}\n"
        "# TYPE llamacpp:tokens_predicted_total counter\nllamacpp:tokens_predicted_total {n}\n"
    )
    found = grown(page.format(n=5), page.format(n=25))
    assert found == ServerCounters(source="/metrics", output_tokens=20)


@pytest.mark.parametrize("text", [None, "", "<html>404</html>", "{", "a b c d e"])
def test_what_is_no_metrics_page_says_nothing(text: str | None) -> None:
    """A missing endpoint, a web page and garbage leave the counters unknown."""
    assert counters.read(text) is None
    assert counters.difference(counters.read(text), sglang(1, 1, 1, 1, 1)) is None


def test_newer_names_serve_where_the_old_one_is_missing() -> None:
    """SGLang's counters by mode give the tiers when ``cached_tokens_total`` isn't there, and never beside it."""
    page = (
        "# TYPE sglang:prefill_effective_tokens_total counter\n"
        'sglang:prefill_effective_tokens_total{{mode="input"}} 500.0\n'
        'sglang:prefill_effective_tokens_total{{mode="device_hit"}} {n}\n'
        'sglang:prefill_effective_tokens_total{{mode="host_hit"}} 4.0\n'
    )
    found = grown(page.format(n=5), page.format(n=25))
    assert found is not None
    assert found.cached_by_tier == {"device": 20, "host": 0}


def test_labels_carry_facts() -> None:
    """vLLM's block size stands in a label."""
    reading = counters.read(
        '# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="16"} 1.0\n'
    )
    assert reading is not None
    assert reading.labels("vllm:cache_config_info") == {"block_size": "16"}
    assert reading.labels("absent") == {}
