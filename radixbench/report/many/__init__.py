"""More than two captures on one page, one table and one terminal: candidates beside one another, each against the reference."""
