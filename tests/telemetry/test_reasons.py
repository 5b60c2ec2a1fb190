"""Event reasons by bit."""

from __future__ import annotations

import pynvml
import pytest

from radixbench.telemetry.reasons import GPU_IDLE, REASONS, SW_POWER_CAP, THROTTLING, decode


@pytest.mark.parametrize(
    ("mask", "names"),
    [
        (0, ()),
        (0x24, ("SW power cap", "SW thermal slowdown")),
        (0x200, ("unknown 0x200",)),
        (0x8000_0401, ("GPU idle", "unknown 0x400", "unknown 0x80000000")),
    ],
)
def test_masks_become_names(mask: int, names: tuple[str, ...]) -> None:
    """Several bits at once are normal; unknown ones are shown in hex, never dropped."""
    assert decode(mask) == names


def test_the_table_has_nine_bits_once_each() -> None:
    """All bits of the header, each its own."""
    assert [reason.bit for reason in REASONS] == [1 << place for place in range(9)]
    assert decode(0x1FF) == tuple(reason.name for reason in REASONS)


def test_the_bits_are_nvmls() -> None:
    """Where the installed binding has a constant under either spelling, it is our bit."""
    for reason in REASONS:
        known = [getattr(pynvml, name) for name in reason.nvml_names if hasattr(pynvml, name)]
        assert known
        assert set(known) == {reason.bit}


def test_idle_and_user_settings_are_no_throttling() -> None:
    """Power, heat and brake slow a card down against its user's wish; the rest don't."""
    assert THROTTLING == 0x4 | 0x8 | 0x20 | 0x40 | 0x80
    assert not THROTTLING & GPU_IDLE
    assert THROTTLING & SW_POWER_CAP
