"""Benchmarks: how fast the search is on this machine, beside what else the machine can do."""
