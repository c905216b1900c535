"""Read facts about a project: its root, its configuration, its instruction files."""
