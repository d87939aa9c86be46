"""Compiled inner loops of the store: arrays in, counts out. Importing this package is free."""
