"""Every fault of the field that concerns a measurement has a test that carries its number.

The numbers are those of the project's list of field faults: reports of people who measured prefix caching
and got a wrong figure. A test is called ``test_fault_<number>_<what>``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

COLD = (1, 2, 4, 5, 7, 8, 10, 11, 13, 14)
TTFT = (16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31)
COUNTS = (32, 34, 35, 37, 38, 40, 41, 43, 44, 46, 47, 49, 50, 52, 53)
HITS = (55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73, 74, 76, 77, 79, 80, 82, 83, 85, 86)
PREFIX = (88, 89, 91, 92, 94, 95, 97, 98)
DRIVING = (100, 101, 103, 104, 106, 107, 109, 110, 112, 113)
EVICTION = (115, 116, 118, 119)
CLOCKS = (121, 122, 124, 125)
NVML = (127, 128, 130, 131)
DATA_SETS = (133, 134)
NUMBERS = (*COLD, *TTFT, *COUNTS, *HITS, *PREFIX, *DRIVING, *EVICTION, *CLOCKS, *NVML, *DATA_SETS)


def numbers_tested() -> set[int]:
    """The numbers that appear in the names of tests beside this file."""
    found: set[int] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        names = re.findall(r"^(?:async )?def test_fault_(\d+(?:_and_\d+)*)_", path.read_text(), re.MULTILINE)
        for name in names:
            found.update(int(number) for number in name.split("_and_"))
    return found


@pytest.mark.parametrize("number", NUMBERS)
def test_a_fault_has_a_test_with_its_number(number: int) -> None:
    """A fault nobody tests comes back."""
    assert number in numbers_tested()
