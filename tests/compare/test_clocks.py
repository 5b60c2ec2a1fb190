"""Both arms' clocks in a cell: the numbers, and the words for what they do to a factor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from radixbench.compare.bound import Pace, Paces
from radixbench.compare.change import CellClocks, Comparison
from radixbench.compare.comparison import compare
from radixbench.compare.document import to_document
from radixbench.records import DeviceInfo, GpuSample
from radixbench.scenario.model import LoadSpec
from tests.builders import CARD, gpu_samples, make_sweep, ns

HEAT, POWER = 0x20, 0x4
WINDOWS = {"on": 0.2, "off": 0.95}
"""Times to the first token that make windows of 2 and 8 s: 20 and 80 readings."""


def readings(
    *, slow: float = 0.0, clock: int = 1950, held_clock: int | None = None, mask: int = POWER, **fixed: Any
) -> tuple[GpuSample, ...]:
    """Nine seconds of one card, held back for ``slow`` of every second: then at ``held_clock``, with ``mask`` set."""
    held_clock = clock if held_clock is None else held_clock
    made = []
    for i in range(100):
        held = i % 10 < round(10 * slow)
        reading = GpuSample(
            at_ns=ns(-0.5 + i / 10),
            sm_clock_mhz=held_clock if held else clock,
            event_reasons=mask if held else 0,
            temperature_c=50,
        )
        made.append(replace(reading, **fixed))
    return tuple(made)


def compared(
    on: tuple[GpuSample, ...],
    off: tuple[GpuSample, ...],
    *,
    on_cards: tuple[DeviceInfo, ...] = (CARD,),
    off_cards: tuple[DeviceInfo, ...] = (CARD,),
) -> Comparison:
    """A sweep whose arms have these readings."""
    arms = make_sweep(
        **WINDOWS,
        on_options={"gpu": on, "devices": on_cards, "identity": {"device": "cuda"}},
        off_options={"gpu": off, "devices": off_cards, "identity": {"device": "cuda"}},
    )
    return compare(*arms)


def cell(comparison: Comparison) -> CellClocks:
    """The only cell's clocks."""
    (found,) = comparison.clocks
    return found


def caveat(comparison: Comparison, code: str) -> str:
    """The text of the caveat of that code."""
    (found,) = [one.text for one in comparison.caveats if one.code == code]
    return found


def test_alike_and_cool_says_nothing() -> None:
    """Medians, floors and maxima are there; no words, no bound."""
    found = cell(compared(readings(), readings(clock=1940)))
    assert (found.a.median, found.a.floor, found.a.maximum) == (1950.0, 1950, 1980)
    assert found.gap == pytest.approx(10 / 1950)
    assert (found.bound, found.explains, found.text) == (None, None, "")
    assert (found.a.throttled_share, found.a.source, found.a.start_temperature_c) == (0.0, "samples", 50)
    assert found.a.devices == ("GPU 0: H200",)


def test_throttled_and_slower_is_an_upper_bound_with_its_size() -> None:
    """The direction, how much of the time, how much slower, and what clocks could explain at most, rounded up."""
    comparison = compared(readings(), readings(slow=0.6, held_clock=1260))
    found = cell(comparison)
    assert found.text == (
        "the off side was throttled in 60 % of samples and ran 35 % slower: the factor is an upper bound;"
        " clocks alone could explain at most 1.55×"
    )
    assert (found.bound, found.explains) == ("upper", pytest.approx(1950 / 1260))
    assert found.b.floor == 1260
    assert "SW power cap 60 % of samples" in caveat(comparison, "throttled")
    assert found.text in caveat(comparison, "throttled")


def test_where_counters_tell_it_is_of_time() -> None:
    """The same words, of its time; bits that samples never saw."""
    off = tuple(replace(one, power_cap_ns=one.at_ns * 6 // 10 + ns(9)) for one in readings(clock=1500))
    found = cell(compared(readings(), off))
    assert found.text.startswith("the off side was throttled for 60 % of its time and ran 23 % slower")
    assert (found.b.source, found.b.reasons) == ("counters", {"SW power cap": pytest.approx(0.6, abs=1e-6)})


def test_the_other_way_round_is_a_lower_bound() -> None:
    """The on side would have been faster still."""
    found = cell(compared(readings(slow=1.0, held_clock=1300), readings()))
    assert found.text.startswith(
        "the on side was throttled in 100 % of samples and ran 33 % slower: the factor is a lower bound"
    )
    assert found.bound == "lower"


def test_throttled_without_loss_of_clock_can_not_be_sized() -> None:
    """A bound all the same, but by how much nobody knows."""
    found = cell(compared(readings(), readings(slow=0.5)))
    assert found.text == (
        "the off side was throttled in 50 % of samples, though its clock shows no loss (median SM clock 1,950 against 1,950 MHz):"
        " the factor is an upper bound, but how much the throttling cost can't be told"
    )
    assert (found.bound, found.explains) == ("upper", None)


def test_throttled_without_any_clock() -> None:
    """Reasons are told, the clock isn't."""
    found = cell(compared(readings(), readings(slow=0.5, sm_clock_mhz=None)))
    assert "and its clock isn't told: the factor is an upper bound, but how much" in found.text
    assert found.b.why_unknown == "the device doesn't tell its SM clock"
    assert found.gap is None


def test_slow_in_less_than_half_of_the_time_shows_in_the_mean() -> None:
    """Medians are equal; the mean over time is 12 % lower, and that is the size."""
    found = cell(compared(readings(), readings(slow=0.4, held_clock=1365)))
    assert found.gap == 0.0
    assert found.explains == pytest.approx(1950 / 1716, rel=0.01)
    assert "and ran 12 % slower" in found.text


def test_memory_clocks_count_too() -> None:
    """A card whose memory runs at half its clock can cost twice the time at the same SM clock."""
    on = readings(memory_clock_mhz=3200)
    found = cell(compared(on, readings(slow=1.0, mask=0x8, memory_clock_mhz=1600)))
    assert found.explains == pytest.approx(2.0)


def test_a_memory_clock_that_somebody_locked_is_a_gap() -> None:
    """Same SM clock, no reason: the memory alone bounds the factor, and its clocks are told."""
    comparison = compared(readings(memory_clock_mhz=3200), readings(memory_clock_mhz=1600))
    assert cell(comparison).text == (
        "the off side ran 50 % slower, though no throttling was seen (memory clock 1,600 against 3,200 MHz): the factor"
        " is an upper bound; clocks alone could explain at most 2.00×"
    )
    assert caveat(comparison, "clock-gap").count("1,600 against 3,200 MHz") == 1


def test_clocks_apart_in_both_directions_have_no_direction() -> None:
    """The SMs slower in one arm, the memory in the other."""
    comparison = compared(readings(memory_clock_mhz=1600), readings(clock=1560, memory_clock_mhz=3200))
    assert (cell(comparison).bound, cell(comparison).explains) == (None, pytest.approx(2.0))
    told = caveat(comparison, "clock-gap")
    assert "median SM clock 1,950 MHz in A, 1,560 MHz in B, 20 % apart; memory clock 1,600 MHz in A" in told
    assert told.endswith(
        "each side ran slower by one of its clocks: which way the factor errs can't be told; clocks alone could explain"
        " at most 2.00×"
    )


def test_slow_for_a_part_without_a_reason_is_a_gap() -> None:
    """Equal medians; the means tell."""
    comparison = compared(readings(), readings(slow=0.4, held_clock=1365, mask=0))
    assert "(mean SM clock 1,715 against 1,950 MHz)" in caveat(comparison, "clock-gap")
    assert cell(comparison).bound == "upper"


def test_one_slow_run_of_three_weighs_as_it_does_in_the_factor() -> None:
    """Half the clock in one of three runs: a mean of ratios can be the cube root of 2 for it."""
    options = {"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}}
    on, off = make_sweep(**WINDOWS, on_options=options, off_options=options)
    slow = replace(off.runs[1], gpu=readings(clock=975))
    found = cell(compare(on, replace(off, runs=(off.runs[0], slow, *off.runs[2:]))))
    assert found.explains == pytest.approx(2 ** (1 / len(off.runs)))
    assert found.bound == "upper"


def test_at_a_fixed_rate_waiting_has_no_such_bound() -> None:
    """A queue grows faster than the time of service: no number, and the words say so."""
    options = {"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}}
    slow = options | {"gpu": readings(clock=1300)}
    on, off = (
        replace(one, scenario=replace(one.scenario, load=LoadSpec(arrival="poisson", request_rate=4.0)))
        for one in make_sweep(**WINDOWS, on_options=options, off_options=slow)
    )
    found = cell(compare(on, off))
    assert (found.bound, found.explains) == ("upper", None)
    assert found.text.endswith(
        "clocks alone could explain at most 1.50× of the time on the card, and more of what requests wait, since they"
        " come at a pace of their own"
    )


def test_a_factor_below_one_is_bounded_by_the_same_side() -> None:
    """A slower than B with B throttled: A may be worse still, so 0.5 is at most that; 0.5 with A throttled at least."""
    slow = {"gpu": readings(slow=1.0, held_clock=1300), "devices": [CARD], "identity": {"device": "cuda"}}
    cool = {"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}}
    for on_options, off_options, bound in ((cool, slow, "upper"), (slow, cool, "lower")):
        found = compare(*make_sweep(on=0.4, off=0.2, on_options=on_options, off_options=off_options))
        rows = {row.metric: row for row in found.changes if row.factor is not None}
        assert rows["ttft_p50"].factor.value < 1
        assert {rows[name].bound for name in ("ttft_p50", "output_throughput", "duration")} == {bound}


def test_counters_of_one_arm_and_samples_of_the_other() -> None:
    """Counters of one arm, samples of the other: both tell, each by its own source."""
    counted = tuple(replace(one, power_cap_ns=one.at_ns // 2 + ns(9)) for one in readings())
    found = cell(compared(readings(slow=0.3), counted))
    assert (found.a.source, found.b.source) == ("samples", "counters")
    told = caveat(compared(readings(), counted), "clock-source")
    assert told.endswith("told by the driver's time counters in B, by samples in A, which miss what is short")
    assert (
        "was throttled in 30 % of samples and the off side was throttled for 50 % of its time" in found.text
    )


def test_nothing_known_of_the_other_side_is_no_bound() -> None:
    """It may have been throttled just as much."""
    found = cell(compared((), readings(slow=1.0)))
    assert (found.bound, found.explains) == (None, None)
    assert found.text == (
        "the off side was throttled in 100 % of samples, and of the on side nothing is known: which way the factor errs"
        " can't be told"
    )


def test_the_other_sides_clock_is_what_is_missing() -> None:
    """Its reasons are told, so that the bound holds."""
    found = cell(compared(readings(sm_clock_mhz=None), readings(slow=1.0)))
    assert (found.bound, found.explains) == ("upper", None)
    assert "in 100 % of samples, and the other side's clock isn't told" in found.text


def test_slower_without_a_reason() -> None:
    """Locked clocks set no bit: the gap alone bounds the factor, and says so."""
    comparison = compared(readings(), readings(clock=1560))
    assert cell(comparison).text == (
        "the off side ran 20 % slower, though no throttling was seen (median SM clock 1,560 against 1,950 MHz): the factor is an"
        " upper bound; clocks alone could explain at most 1.25×"
    )
    assert cell(comparison).text in caveat(comparison, "clock-gap")
    untold = compared(readings(event_reasons=None), readings(clock=1560, event_reasons=None))
    assert "though throttling isn't told" in cell(untold).text


def test_both_throttled_have_no_direction() -> None:
    """Bound null; the clocks still limit what they could explain."""
    comparison = compared(readings(slow=0.4, held_clock=1400), readings(slow=0.9, held_clock=1300, mask=HEAT))
    found = cell(comparison)
    assert found.bound is None
    assert found.text == (
        "the on side was throttled in 40 % of samples and the off side was throttled in 90 % of samples:"
        " which way the factor errs can't be told; clocks alone could explain at most 1.50×"
    )
    assert "the on side: SW power cap 40 % of samples; the off side: SW thermal" in caveat(
        comparison, "both-throttled"
    )


def test_one_throttled_the_other_slower() -> None:
    """Each is handicapped in its way: no direction either."""
    found = cell(compared(readings(slow=0.5), readings(clock=1500)))
    assert found.bound is None
    assert "the on side was throttled in 50 % of samples and the off side ran slower: which way" in found.text


def test_arms_of_one_mode_go_by_their_letters() -> None:
    """Two captures of the same mode have no better names."""
    arms = make_sweep(
        on=0.2, on_options={"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}}
    )[0]
    slow = make_sweep(
        on=0.2, on_options={"gpu": readings(slow=1.0), "devices": [CARD], "identity": {"device": "cuda"}}
    )[0]
    assert cell(compare(arms, slow)).text.startswith("side B was throttled in 100 % of samples")


def test_one_hot_run_of_three_is_named_apart() -> None:
    """The mean over runs and the worst of them, where they differ."""
    both = Paces(Pace(0.0, 1900.0, 0.0), Pace(0.6, 1900.0, 0.2, source="samples"))
    assert both.bound == "upper"
    on, off = make_sweep(
        **WINDOWS,
        on_options={"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}},
        off_options={"gpu": readings(), "devices": [CARD], "identity": {"device": "cuda"}},
    )
    hot = replace(off.runs[0], gpu=readings(slow=0.6))
    found = cell(compare(on, replace(off, runs=(hot, *off.runs[1:]))))
    assert found.text.startswith("the off side was throttled in 20 % of samples (up to 60 % of a run)")
    assert found.b.throttled_share == pytest.approx(0.6, abs=0.02)


def test_the_slowest_card_decides_and_an_idle_one_does_not() -> None:
    """Two at work: the slower. One that nobody uses is listed and left out, and said."""
    second = replace(CARD, index=1, name="H200 NVL")
    idle = tuple(replace(one, device=1, sm_clock_mhz=345, event_reasons=1) for one in readings())
    slow = tuple(replace(one, device=1, sm_clock_mhz=1700) for one in readings())
    cards = (CARD, second)
    found = cell(compared(readings() + slow, readings() + slow, on_cards=cards, off_cards=cards))
    assert (found.a.median, found.a.devices) == (1700.0, ("GPU 0: H200", "GPU 1: H200 NVL"))
    comparison = compared(readings() + idle, readings() + idle, on_cards=cards, off_cards=cards)
    assert cell(comparison).a.median == 1950.0
    assert cell(comparison).a.floor == 1950
    assert cell(comparison).a.devices == ("GPU 0: H200", "GPU 1: H200 NVL (idle, left out)")
    assert "GPU 1 (H200 NVL) did nothing in any run and is left out" in caveat(comparison, "gpu-unused")


def test_power_limits_that_differ_are_told() -> None:
    """Enforced limits of both arms, in watts."""
    comparison = compared(
        readings(),
        readings(),
        on_cards=(replace(CARD, power_limit_mw=700_000),),
        off_cards=(replace(CARD, power_limit_mw=500_000),),
    )
    assert "enforced power limit 700 W in A, 500 W in B" in caveat(comparison, "power-limit")
    assert (cell(comparison).a.power_limit_mw, cell(comparison).b.power_limit_mw) == (700_000, 500_000)


def test_hidden_limits_are_told() -> None:
    """GB10 sets no bit in slow states."""
    spark = (replace(CARD, name="NVIDIA GB10"),)
    comparison = compared(readings(), readings(), on_cards=spark, off_cards=spark)
    assert cell(comparison).a.firmware_hidden
    assert "firmware limits not visible" in caveat(comparison, "firmware-limits-hidden")


def test_unknown_clocks_say_why() -> None:
    """Nothing read, nothing claimed; a cell of one arm only has the other arm's reason."""
    comparison = compare(*make_sweep())
    assert cell(comparison).a.why_unknown == "the model ran on the CPU"
    assert (cell(comparison).a.median, cell(comparison).a.source, cell(comparison).text) == (None, None, "")
    alone = compare(make_sweep(shared=(32,))[0], make_sweep(shared=(64,))[1])
    assert next(one.b.why_unknown for one in alone.clocks) == "the arm has no run of this cell"


def test_the_document_has_the_clocks() -> None:
    """Plain values under ``clocks``, one entry a cell."""
    document = to_document(compared(readings(), readings(slow=0.6, held_clock=1260)))
    (entry,) = document["clocks"]
    assert entry["bound"] == "upper"
    assert entry["b"]["reasons"] == {"SW power cap": pytest.approx(0.6)}
    assert set(entry) == {"cell", "a", "b", "gap", "bound", "explains", "text"}


def test_a_short_look_is_told() -> None:
    """Fewer samples than ten: statistics can't rest on them."""
    comparison = compared(gpu_samples(step_s=0.3), gpu_samples())
    assert "too short for clock statistics" in caveat(comparison, "clock-too-short")
