"""Repair broken markers: find what is cub's in a document, and offer choices that lose no line."""
