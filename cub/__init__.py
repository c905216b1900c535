"""Run coding agents on a task list, and commit only what the checks accept."""

__version__ = "0.1.0"
