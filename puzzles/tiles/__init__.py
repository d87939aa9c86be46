"""Sliding tiles (8-puzzle, 15-puzzle, any board whose key fits 64 bits).

SNAKE.md beside this file derives the key. The family object is `puzzles.tiles.family.FAMILY`.
"""
