"""Runners of any language's tasks."""
