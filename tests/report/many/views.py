"""Several captures as views, each built once for a test process."""

from __future__ import annotations

from functools import cache

from radixbench.compare.many import Many, compare_many
from radixbench.report.many.model import ManyView
from radixbench.report.many.view import build_many_view
from tests.builders import make_capture
from tests.compare.several import PATHS, capture, four
from tests.report.test_hostile import EVIL, spoiled


@cache
def many() -> Many:
    """A faster, B of another model, C slower than D."""
    return compare_many(four(), PATHS)


@cache
def view() -> ManyView:
    """What is shown of them."""
    return build_many_view(many())


@cache
def eight() -> ManyView:
    """As many as there may be, in two cells, one of them without runs."""
    arms = [capture(0.5 + 0.1 * place, shared=(0, 64)) for place in range(6)]
    captures = [*arms, make_capture([], planned_runs=3), capture(1.0, shared=(0, 64))]
    return build_many_view(compare_many(captures, [f"build-{place}.json" for place in range(8)]))


@cache
def hostile() -> ManyView:
    """Every free text of every capture hostile, names of files too."""
    captures = [spoiled(one) for one in (capture(0.5), capture(1.5), capture(1.0))]
    return build_many_view(compare_many(captures, [f"{place}/{EVIL}.json" for place in range(3)]))
