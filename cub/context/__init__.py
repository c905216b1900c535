"""Assemble context for agents: rules, task files, parameters, and the output of commands."""
