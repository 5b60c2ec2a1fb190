"""The scheduler and the tree without a model: what a cache of a given size would have reused."""
