"""``CUDA_VISIBLE_DEVICES`` in terms of NVML."""

from __future__ import annotations

import pytest

from radixbench.telemetry.visible import visible_devices

UUIDS = ("GPU-aa11", "GPU-bb22", "GPU-bb33", None)


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, (0, 1, 2, 3)),
        ("", ()),
        ("-1", ()),
        ("0", (0,)),
        ("2,0", (2, 0)),
        (" 1 , 3 ", (1, 3)),
        ("1,1", (1,)),
        ("0,9,1", (0,)),
        ("0,x,1", (0,)),
        ("NoDevFiles", ()),
        ("GPU-aa11", (0,)),
        ("GPU-aa", (0,)),
        ("GPU-bb", ()),
        ("GPU-", ()),
        ("GPU-bb33,GPU-aa11", (2, 0)),
        ("MIG-GPU-bb22/1/0", (1,)),
        ("MIG-GPU-bb22/1/0,MIG-GPU-bb22/2/0", (1,)),
        ("MIG-known", (2,)),
        ("MIG-unknown", ()),
    ],
)
def test_entries_as_cuda_reads_them(visible: str | None, expected: tuple[int, ...]) -> None:
    """Indices, UUIDs, their beginnings if unambiguous, MIG by its card; the list ends at the first bad entry."""
    assert visible_devices(visible, UUIDS, {"MIG-known": "GPU-bb33"}.get) == expected
