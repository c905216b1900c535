"""Map a project: its structure, its commands, and the definitions that others depend on."""
