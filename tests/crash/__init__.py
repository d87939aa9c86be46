"""Crashes of the real command line: killed or cut off at an operation drawn from a seed.

`under_fault` runs one command under one fault; `campaign` interrupts searches again and again and
compares what comes out with the published table.
"""
