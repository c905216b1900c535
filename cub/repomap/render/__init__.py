"""Render the text of the map, within its budget."""
