"""The search engine: routing, spilling, merging, checkpoints, threads; it looks into no record."""
