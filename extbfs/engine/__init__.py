"""The search engine: routing, spilling, merging, checkpoints and threads; it looks into no record."""
