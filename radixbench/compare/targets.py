"""The targets of goodput: those of a capture's scenario, others in their place, and what follows where sides have unlike ones."""

from __future__ import annotations

from dataclasses import replace

from radixbench.capture.model import Capture
from radixbench.scenario.model import GoodputSpec

_JUDGED = ("goodput", "goodput_share")


def with_goodput(capture: Capture, targets: GoodputSpec) -> Capture:
    """The capture as if these targets had been asked for; its evidence is the same."""
    return replace(capture, scenario=replace(capture.scenario, goodput=targets))


def unlike_targets(a: Capture, b: Capture) -> dict[str, str]:
    """By metric, why it means something else on either side; empty where the targets are the same."""
    one, other = a.scenario.goodput, b.scenario.goodput
    if one == other:
        return {}
    reason = f"the sides have other targets ({one or 'none'} against {other or 'none'}): give --goodput"
    return dict.fromkeys(_JUDGED, reason)
