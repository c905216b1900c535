"""Describe a project by its files: annotated tree, key files, conventions, summary."""
