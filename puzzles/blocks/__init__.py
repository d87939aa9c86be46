"""Sliding blocks: pieces of any shape on a board with walls, as in Klotski and Huarong Dao."""
