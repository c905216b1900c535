"""Repair of broken markers: what is cub's in a document, and choices that lose no line."""
