"""vLLM's printed configuration: as 0.32.0 prints it, shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from radixbench.bench.vllm_config import settings

LINE = (
    "model='/models/a, b=c', speculative_config=None, dtype=torch.float32, max_seq_len=4096,"
    " tensor_parallel_size=2, trust_remote_code=False, kv_cache_dtype=auto, device_config=cpu,"
    " structured_outputs_config=StructuredOutputsConfig(backend='auto', reasoning_parser=''),"
    " enable_prefix_caching=True, compilation_config={'mode': <CompilationMode.NONE: 0>, 'compile_sizes': None},"
    " gpu_memory_utilization=0.9, tokenizer_revision=None"
)


def test_plain_settings_are_read_and_objects_are_left_out() -> None:
    """Words, numbers and quoted text as what they are; commas and equals signs within quotes part nothing."""
    assert settings({"vllm_config": LINE}, {}) == {
        "model": "/models/a, b=c",
        "speculative_config": None,
        "dtype": "float32",
        "max_seq_len": 4096,
        "tensor_parallel_size": 2,
        "trust_remote_code": False,
        "kv_cache_dtype": "auto",
        "device_config": "cpu",
        "device": "cpu",
        "enable_prefix_caching": True,
        "gpu_memory_utilization": 0.9,
        "tokenizer_revision": None,
    }


def test_a_server_without_a_developers_mode_tells_by_its_metric() -> None:
    """Whether the cache is on stands in the labels of ``vllm:cache_config_info``; the rest stays unknown."""
    labels = {"enable_prefix_caching": "False", "block_size": "16", "cache_dtype": "auto"}
    assert settings({}, labels) == {"enable_prefix_caching": False, "cache_dtype": "auto"}


def test_what_is_no_line_tells_nothing() -> None:
    """Another form of the answer, or another server's, is left alone."""
    assert settings({"vllm_config": {"model_config": {}}}, {}) == {}
    assert settings({"vllm_config": "no settings at all"}, {}) == {}


@given(st.text())
def test_no_line_is_too_odd(line: str) -> None:
    """Whatever is printed, only plain values come out of it."""
    found = settings({"vllm_config": line}, {})
    assert all(value is None or isinstance(value, str | int | float) for value in found.values())
