"""How many GPUs a server runs on, by its own arguments: tensor times pipeline times data parallel ranks.

SGLang's attention data parallelism splits the tensor-parallel ranks and adds none. An argument that isn't
stated is 1; a server that states none of them, on a GPU, runs on one.
"""

from __future__ import annotations

from collections.abc import Sequence

from radixbench.capture.model import Run
from radixbench.stats.sample import Absent

_TENSOR = ("tp_size", "tensor_parallel_size", "tp")
_PIPELINE = ("pp_size", "pipeline_parallel_size", "pp")
_DATA = ("dp_size", "data_parallel_size", "dp")


def gpu_count(run: Run) -> int | Absent:
    """GPUs in use; none where the model runs on the CPU or nobody says."""
    device = str(run.server.identity.get("device", ""))
    if device.startswith("cpu"):
        return Absent("the model ran on the CPU")
    sizes = [_size(run, names) for names in (_TENSOR, _PIPELINE, _DATA)]
    if all(size is None for size in sizes) and not device:
        return Absent("the server doesn't say on how many GPUs it runs")
    tensor, pipeline, data = (1 if size is None else size for size in sizes)
    return tensor * pipeline * (1 if run.server.args.get("enable_dp_attention") is True else data)


def _size(run: Run, names: Sequence[str]) -> int | None:
    for name in names:
        value = run.server.args.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
