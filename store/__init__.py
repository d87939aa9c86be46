"""Sorted sets of 64-bit keys on disk: what is written, how it is found again and why it survives.

The nouns, each with one meaning everywhere in this package:

- *key*: an unsigned 64-bit integer; the store does not know what it stands for.
- *block*: some tens of thousands of ascending keys of one key range, encoded together and
  checksummed; the unit that is read, checked and decoded.
- *run*: blocks in key order, then an index of them; sorted and without duplicates.
- *layer*: the runs of one depth, in key order.
- *payload*: one small integer beside each key of a run, in its own stream.
- *spill*: sorted runs of children which did not fit in memory; gone once their depth is committed.
- *catalogue*: the LMDB environment which says what is true: a file that it does not name is not
  part of the run (`store/CATALOGUE.md`).
- *commit*: the one moment at which something becomes durable: an LMDB commit that names files
  which were synced, renamed and whose directory was synced before.
- *run directory*: everything one search has on disk, held by one writer at a time.

Importing this package imports nothing heavy; the modules that compute import numba themselves.
"""
