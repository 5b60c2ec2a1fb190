"""Numbers, quantiles, intervals and power. Pure; it knows of no benchmark."""
