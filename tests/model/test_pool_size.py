"""How many slots a model gets by default."""

from __future__ import annotations

import pytest

from radixbench.errors import ModelError
from radixbench.model import pool_size
from radixbench.model.loaded import LoadedModel


@pytest.mark.parametrize(
    ("free", "tokens"), [(None, 65_536), (1 << 40, 65_536), (100 << 20, 40_960), (3 << 20, 1024)]
)
def test_default(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch, free: int | None, tokens: int) -> None:
    """65,536 slots where memory allows, else what fits in 40 % of what is free."""
    monkeypatch.setattr(pool_size, "free_bytes", lambda _model: free)
    assert pool_size.default_pool_tokens(tiny).tokens == tokens


def test_no_room(tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory at all is the user's to solve."""
    monkeypatch.setattr(pool_size, "free_bytes", lambda _model: 1 << 20)
    with pytest.raises(ModelError, match="no memory for a KV pool"):
        pool_size.default_pool_tokens(tiny)


def test_memory(tiny: LoadedModel) -> None:
    """A pool takes a token's bytes times its slots; this host's free memory is known."""
    assert pool_size.memory_bytes(tiny, 65_536) == 64 << 20
    assert pool_size.free_bytes(tiny) > 1 << 20
