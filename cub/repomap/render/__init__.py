"""The text of the map, and what fits into it."""
