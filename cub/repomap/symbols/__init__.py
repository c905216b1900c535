"""Find what source files define and mention."""
