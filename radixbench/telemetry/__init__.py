"""Clocks, power, heat and load while a run is measured, read beside it and never in its way."""
