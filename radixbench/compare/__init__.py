"""Two captures become factors with intervals, verdicts, and caveats with remedies."""
