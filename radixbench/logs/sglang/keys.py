"""The words of SGLang's batch lines, and the keys they become (0.1 to 0.5.23, forks included)."""

from __future__ import annotations

SGLANG_KEYS: dict[str, str] = {
    "#new-seq": "new_seq",
    "#seq": "new_seq",
    "#new-token": "new_token",
    "#new_token": "new_token",
    "#cached-token": "cached_token",
    "#cached_token": "cached_token",
    "cache hit rate": "cache_hit_rate_pct",
    "tree_cache_hit_rate": "cache_hit_rate_pct",
    "#running-req": "running_req",
    "#running_req": "running_req",
    "#queue-req": "queue_req",
    "#remaining_req": "queue_req",
    "#pending-token": "pending_token",
    "#token": "token",
    "#full token": "full_token",
    "#swa token": "swa_token",
    "token usage": "token_usage",
    "full token usage": "full_token_usage",
    "swa token usage": "swa_token_usage",
    "mamba num": "mamba_num",
    "mamba usage": "mamba_usage",
    "accept len": "accept_len",
    "accept rate": "accept_rate",
    "pre-allocated usage": "preallocated_usage",
    "#prealloc-req": "prealloc_req",
    "#inflight-req": "inflight_req",
    "#bootstrap-req": "bootstrap_req",
    "#unbootstrapped-req": "unbootstrapped_req",
    "#optimistic-req": "optimistic_req",
    "#transferring-req": "transferring_req",
    "#transfer-req": "transfer_req",
    "#retracted-req": "retracted_req",
    "input throughput (token/s)": "input_throughput",
    "gen throughput (token/s)": "gen_throughput",
    "est. prefill TFLOPS/s (per GPU)": "prefill_tflops_per_gpu",
    "fwd occupancy": "fwd_occupancy_pct",
    "largest-len": "largest_len",
    "#cache_miss": "jax_cache_miss",
}
"""A label as printed, and its key in ``LogRecord.values``."""

ODD_LABELS = frozenset(
    (
        "#gpu token",
        "gpu token usage",
        "#cpu token",
        "cpu token usage",
        "#replay-token",
        "#host-receive-req",
        "waiting-image-req",
        "cap len",
        "block accept len",
        "fwd+idle occupancy",
        "est. decode TFLOPS/s (per GPU)",
        "est. read BW (GB/s per GPU)",
        "est. write BW (GB/s per GPU)",
        "time",
        "timestamp",
    )
)
"""Labels that are printed and have no key: they are kept as they are, and are no damage."""

GRAPH_LABELS: dict[str, str] = {f"{backend} graph": backend for backend in ("cuda", "cpu", "npu", "musa")}
"""``<backend> graph: True`` becomes ``cuda_graph`` and ``graph_backend``."""

PREFILL_MUST = frozenset({"new_seq", "new_token", "cached_token", "queue_req"})
"""A prefill line without all of these is cut or damaged."""

DECODE_MUST = frozenset({"running_req", "queue_req"})
"""A decode line without all of these is cut or damaged."""
