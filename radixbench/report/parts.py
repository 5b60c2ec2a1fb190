"""The parts of all tokens that a cell's prompts share: what was found cached, and what was not, by cause."""

from __future__ import annotations

CACHED = "found cached"
FIRST = "first arrival"
CONCURRENT = "concurrent first arrival"
PAGES = "page remainder"
EVICTION = "eviction"
UNEXPLAINED = "unexplained"
PARTS = (CACHED, FIRST, CONCURRENT, PAGES, EVICTION, UNEXPLAINED)
