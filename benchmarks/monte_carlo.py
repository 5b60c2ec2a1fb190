"""How often verdicts are false, intervals hold the truth and effects show: many experiments with a known truth.

    OMP_NUM_THREADS=1 python benchmarks/monte_carlo.py [--sets 40000] [--only verdicts|coverage|stopped|power]

Every figure is a share of ``--sets`` seeded data sets (its error, 1.96 standard errors, beside it). Arms are drawn run
by run; ``spread`` is the standard deviation of the paired log-ratios. The arrays that make this fast are first held
against the real interval, verdict, gate and stopping rule (``experiments``): any difference ends the script.

- ``verdicts``: without any effect, per row and per gate of six rows that resemble each other more or less;
- ``coverage``: of the factor's and of one side's 95 % interval, by the noise of the runs;
- ``stopped``: of the interval at which ``sweep --until`` stops, by target and spread, and the verdicts it leads to;
- ``power``: the printed chance of a verdict beside the measured one, and how often the detectable effect shows.

One JSON document, last on stdout.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from experiments import (
    MOST_SEEDS,
    NOISE,
    PAIRS,
    ROWS,
    Truths,
    alike,
    check,
    counts,
    gate_verdicts,
    half_widths,
    heavy,
    late,
    normal,
    paired,
    row_verdicts,
    stopped_gates,
    stops,
)
from side_by_side import document, say

from radixbench.compare.verdict import THRESHOLD
from radixbench.stats.power import POWER, chance, detectable_effect
from radixbench.stats.sequential import STOPPED_COVERAGE

SPREADS = (0.01, 0.03, 0.05, 0.10)


def share(hits: Truths) -> dict[str, float]:
    """How many, with the Monte Carlo error, in percent."""
    p = float(np.mean(hits))
    error = 1.96 * math.sqrt(max(p * (1.0 - p), 1.0 / hits.size) / hits.size)
    return {"percent": round(100.0 * p, 2), "error": round(100.0 * error, 2)}


def verdicts(sets: int) -> Iterator[dict[str, Any]]:
    """Shares of null data sets with a verdict.

    Verdicts go both ways, so that rows that move against each other, as a time and a throughput of one run do, are
    judged as those that move together.
    """
    for noise, n, spread in itertools.product(NOISE, PAIRS, SPREADS):
        rng = np.random.default_rng([1, n, int(1000 * spread), len(noise)])
        logs = paired(NOISE[noise], rng, (sets, n), spread)
        found: dict[str, Any] = {"noise": noise, "pairs": n, "spread": spread}
        found["row"] = share(row_verdicts(logs))
        found["row_without_threshold"] = share(row_verdicts(logs, 0.0))
        for common in (0.0, 0.5, 0.9) if noise == "log-normal" else (0.5,):
            families = alike(NOISE[noise], rng, (sets, ROWS, n), spread, common)
            found[f"gate_{common:g}_in_common"] = share(gate_verdicts(families))
        gates = ", ".join(str(found[key]["percent"]) for key in found if key.startswith("gate"))
        say(
            f"{noise}, {n} pairs, spread {spread:.0%}: {found['row']['percent']} % of rows, {gates} % of gates"
        )
        yield found


def coverage(sets: int) -> Iterator[dict[str, Any]]:
    """Shares of 95 % intervals that hold the truth: a factor of 1.3, and one side's mean."""
    truth = math.log(1.3)
    for n, spread in itertools.product(PAIRS, SPREADS):
        rng = np.random.default_rng([2, n, int(1000 * spread)])
        found: dict[str, Any] = {"pairs": n, "spread": spread}
        for name, noise in NOISE.items():
            logs = truth + paired(noise, rng, (sets, n), spread)
            found[name] = share(np.abs(logs.mean(axis=-1) - truth) <= half_widths(logs))
        a, b = spread / math.sqrt(2.0) * rng.standard_normal((2, sets, n))
        logs = np.log(1.3 * (1.0 + a)) - np.log(1.0 + b)
        found["normal"] = share(np.abs(logs.mean(axis=-1) - truth) <= half_widths(logs))
        side = spread * late(rng, (sets, n))
        found["one side, one-sided"] = share(np.abs(side.mean(axis=-1)) <= half_widths(side))
        told = ", ".join(
            f"{key} {value['percent']}" for key, value in found.items() if isinstance(value, dict)
        )
        say(f"coverage with {n} pairs, spread {spread:.0%}: {told} %")
        yield found


def stopped(sets: int) -> Iterator[dict[str, Any]]:
    """What ``--until`` leads to: one row, two rows that must both be narrow, noise with heavy tails."""
    cases = (("one row", normal, 1, 0.0), ("two rows", normal, 2, 0.5), ("two rows, alike", normal, 2, 0.95))
    for target, times in itertools.product(
        (0.02, 0.05, 0.10), (0.5, 0.8, 1.1, 1.4, 1.6, 1.8, 2.0, 2.2, 2.6, 3.2)
    ):
        found: dict[str, Any] = {"target": target, "spread": round(target * times, 4)}
        for name, noise, rows, common in (*cases, ("one row, heavy (t3)", heavy, 1, 0.0)):
            rng = np.random.default_rng([3, int(1000 * target), int(10 * times), len(name)])
            logs = alike(noise, rng, (sets, rows, MOST_SEEDS), target * times, common)
            end, mean, half = stops(logs, target)
            false = (np.abs(mean[:, 0]) > half[:, 0]) & counts(mean[:, 0], THRESHOLD)
            found[name] = {
                "seeds": round(float(end.mean()), 1),
                "at_most_seeds": share(end == MOST_SEEDS),
                "covers": share((np.abs(mean) <= half)[:, 0]),
                "false_verdicts": share(false),
                "false_gates": share(stopped_gates(end, mean, half)),
            }
        told = ", ".join(f"{name} {found[name]['covers']['percent']} %" for name, *_ in cases)
        say(
            f"stopped at {target:.0%}, spread {target * times:.1%}, {found['one row']['seeds']} seeds: {told}"
        )
        yield found


def power(sets: int) -> Iterator[dict[str, Any]]:
    """The printed chance of a verdict in the right direction beside the measured one."""
    for n, spread, threshold in itertools.product(PAIRS, SPREADS, (0.0, THRESHOLD, 0.10)):
        rng = np.random.default_rng([4, n, int(1000 * spread), int(100 * threshold)])
        like = tuple(spread * math.sqrt((n - 1) / 2.0) * x for x in (1.0, -1.0, *[0.0] * (n - 2)))
        detectable = detectable_effect(like, threshold=threshold)
        if not isinstance(detectable, float):
            raise TypeError(detectable.reason)
        for effect in (-0.2, -0.1, -0.05, 0.03, 0.05, 0.10, 0.20, 0.40, detectable):
            logs = math.log1p(effect) + paired(normal, rng, (sets, n), spread)
            right = row_verdicts(logs, threshold) & (np.sign(logs.mean(axis=-1)) == np.sign(effect))
            printed = chance(effect, sd=spread, n=n, threshold=threshold)
            yield {
                "pairs": n,
                "spread": spread,
                "threshold": threshold,
                "effect": effect,
                "is_detectable": effect == detectable,
                "printed": round(100.0 * printed, 2),
                "measured": share(right),
            }


def of_samples(sets: int) -> list[dict[str, Any]]:
    """How far the printed detectable effect scatters, as it rests on the spread of a few pairs, beside the true one."""
    found = []
    for n in PAIRS:
        rng = np.random.default_rng([5, n])
        logs = paired(normal, rng, (min(sets, 2000), n), 0.05)
        printed = [float(detectable_effect(row, threshold=THRESHOLD)) for row in logs.tolist()]
        like = tuple(0.05 * math.sqrt((n - 1) / 2.0) * x for x in (1.0, -1.0, *[0.0] * (n - 2)))
        low, middle, high = np.quantile(printed, (0.1, 0.5, 0.9)).round(4).tolist()
        true = detectable_effect(like, threshold=THRESHOLD)
        found.append({"pairs": n, "true": true, "tenth": low, "median": middle, "nine_tenths": high})
        say(f"detectable with {n} pairs of spread 5 %: {true:.3f}, printed {low} to {high} in 8 of 10 sweeps")
    return found


def worst_verdicts(found: list[dict[str, Any]]) -> dict[str, Any]:
    plain = [one for one in found if one["noise"] == "log-normal"]
    rows = ("row", "row_without_threshold")
    return {
        "row_percent": max(one[key]["percent"] for one in plain for key in rows),
        "gate_percent": max(one[key]["percent"] for one in plain for key in one if key.startswith("gate")),
        "other_noise_percent": max(
            value["percent"]
            for one in found
            if one not in plain
            for value in one.values()
            if isinstance(value, dict)
        ),
    }


def worst_stopped(found: list[dict[str, Any]]) -> dict[str, Any]:
    cases = [(name, case) for one in found for name, case in one.items() if isinstance(case, dict)]
    plain = [case for name, case in cases if "heavy" not in name]
    return {
        "covers_least_percent": min(case["covers"]["percent"] for case in plain),
        "promised_percent": 100 * STOPPED_COVERAGE,
        "row_percent": max(case["false_verdicts"]["percent"] for case in plain),
        "gate_percent": max(case["false_gates"]["percent"] for case in plain),
        "heavy_covers_least_percent": min(
            case["covers"]["percent"] for name, case in cases if "heavy" in name
        ),
    }


def worst_power(found: list[dict[str, Any]]) -> dict[str, Any]:
    off = [abs(one["printed"] - one["measured"]["percent"]) for one in found]
    tenth = [
        one["measured"]["percent"]
        for one in found
        if (one["pairs"], one["threshold"]) == (5, THRESHOLD)
        and one["spread"] <= 0.05
        and abs(one["effect"]) == 0.1
    ]
    shown = [one["measured"]["percent"] for one in found if one["is_detectable"]]
    return {
        "printed_off_by_points": round(max(off), 2),
        "ten_percent_at_five_pairs_least_percent": min(tenth),
        "detectable_shown_percent": [min(shown), max(shown)],
        "aim_percent": 100 * POWER,
    }


def main() -> None:
    """Draw, judge and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=40_000)
    parser.add_argument("--only", choices=("verdicts", "coverage", "stopped", "power"))
    options = parser.parse_args()
    content: dict[str, Any] = {"sets": options.sets, "checked": check()}
    wanted = (options.only,) if options.only else ("verdicts", "coverage", "stopped", "power")
    if "verdicts" in wanted:
        found = list(verdicts(options.sets))
        content["verdicts"] = {**worst_verdicts(found), "by": found}
    if "coverage" in wanted:
        content["coverage"] = list(coverage(options.sets))
    if "stopped" in wanted:
        found = list(stopped(options.sets))
        content["stopped"] = {**worst_stopped(found), "by": found}
        say(f"stopped: {worst_stopped(found)}")
    if "power" in wanted:
        found = list(power(options.sets))
        content["power"] = {**worst_power(found), "of_samples": of_samples(options.sets), "by": found}
        say(f"power: {worst_power(found)}")
    document("monte_carlo", **content)


if __name__ == "__main__":
    main()
