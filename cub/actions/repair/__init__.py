"""Repair of a project: the broken files, and the plan of one choice."""
