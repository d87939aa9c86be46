"""What a puzzle's states, keys and successors are; arrays of keys in, arrays of keys out.

A *key* is one integer that names one *state*; the *successors* of a key are the keys one move away.
This package has never heard of a disk. Importing it loads neither numba nor numpy.
"""
