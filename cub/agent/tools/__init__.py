"""Hold the tools of the built-in agent, one a module."""
