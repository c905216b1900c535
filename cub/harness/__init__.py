"""Coding agents as clients: how each is started, what it prints, and what its end means."""
