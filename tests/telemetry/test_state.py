"""The cards' state in one line."""

from __future__ import annotations

from radixbench.records import DeviceInfo, GpuSample
from radixbench.telemetry.state import clock_words

CARD = DeviceInfo(index=0, name="card", max_sm_clock_mhz=1980, clock_source="sm")


def sample(
    device: int = 0, clock: int | None = 1410, mask: int | None = 0, heat: int | None = 62
) -> GpuSample:
    """One reading."""
    return GpuSample(0, device, sm_clock_mhz=clock, event_reasons=mask, temperature_c=heat)


def test_clock_heat_and_reason_in_one_line() -> None:
    """Clock of its highest, temperature, every reason there is."""
    assert clock_words([sample(mask=0x4)], [CARD]) == "SM 1410/1980 MHz, 62 °C, SW power cap"
    assert clock_words([sample(mask=0x24)], [CARD]).endswith("SW power cap, SW thermal slowdown")
    assert clock_words([sample()], [CARD]) == "SM 1410/1980 MHz, 62 °C"


def test_what_nobody_tells_is_left_out() -> None:
    """Except that throttling is unknown: silence would read as none."""
    assert clock_words([sample(clock=None, mask=None)], []) == "62 °C, throttling unknown"
    assert clock_words([sample(mask=0)], []) == "SM 1410 MHz, 62 °C"
    assert clock_words([], [CARD]) == ""
    assert clock_words([GpuSample(0)], []) == ""


def test_a_graphics_clock_is_named_so() -> None:
    """Where the SM clock isn't told."""
    info = DeviceInfo(index=0, name="card", clock_source="graphics")
    assert clock_words([sample()], [info]) == "graphics 1410 MHz, 62 °C"


def test_of_several_cards_the_one_held_back_counts() -> None:
    """A throttled card before a slower one, and an idle card last of all."""
    idle, slow, held = sample(0, 300, 1), sample(1, 1200), sample(2, 1500, 0x20)
    assert clock_words([idle, slow, held], []) == "GPU 2 of 3: SM 1500 MHz, 62 °C, SW thermal slowdown"
    assert clock_words([idle, slow], []) == "GPU 1 of 2: SM 1200 MHz, 62 °C"


def test_without_a_gpu_the_processor_is_told() -> None:
    """Frequency and load, as far as they are known."""
    words = clock_words([GpuSample(0, cpu_clock_mhz=2450.4, cpu_load_pct=85.2)], [])
    assert words == "CPU 2450 MHz, CPU load 85 %"
    assert clock_words([GpuSample(0, cpu_load_pct=85.2)], []) == "CPU load 85 %"
