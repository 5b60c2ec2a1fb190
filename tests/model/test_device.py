"""Which device, precision and threads are picked when nobody says, and when somebody does."""

from __future__ import annotations

import os

import pytest
import torch

from radixbench.errors import ModelError
from radixbench.model.device import pick_device, pick_dtype, pick_threads, usable_cores


@pytest.mark.parametrize(
    ("wish", "present", "picked"),
    [
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("cuda", True, "cuda"),
    ],
)
def test_the_gpu_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, wish: str, present: bool, picked: str
) -> None:
    """``auto`` takes a GPU that is there; a wish for the CPU holds in spite of one."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: present)
    assert pick_device(wish) == picked


def test_a_gpu_is_never_replaced_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for a GPU that isn't there doesn't get the CPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="torch sees no NVIDIA GPU; use --device cpu"):
        pick_device("cuda")


@pytest.mark.parametrize(
    ("wish", "device", "picked"),
    [
        ("auto", "cpu", "float32"),
        ("auto", "cuda", "bfloat16"),
        ("bfloat16", "cpu", "bfloat16"),
        ("float16", "cuda", "float16"),
        ("float32", "cuda", "float32"),
    ],
)
def test_the_precision_follows_the_device(wish: str, device: str, picked: str) -> None:
    """``auto`` is float32 on a CPU and bfloat16 on a GPU; a wish holds on both."""
    assert pick_dtype(wish, device) == picked  # parametrised


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 2), (96, 95)])
def test_one_core_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch, cores: int, threads: int) -> None:
    """All cores this process may use but one, and never none; the machine's other cores don't count."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(cores)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    assert (usable_cores(), pick_threads(None)) == (cores, threads)


def test_cores_where_there_is_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    """A platform without affinities has only the machine's count, and perhaps not even that."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert pick_threads(None) == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert pick_threads(None) == 1


def test_wished_threads_are_taken() -> None:
    """A wish holds, whatever the machine has; fewer than one thread can't compute."""
    assert pick_threads(500) == 500
    for wish in (0, -2):
        with pytest.raises(ModelError, match=f"{wish} threads; use at least 1"):
            pick_threads(wish)
