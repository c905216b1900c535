"""Rank definitions by how much depends on them."""
