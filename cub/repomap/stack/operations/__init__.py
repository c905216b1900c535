"""Where a project is built and run: CI, containers, infrastructure as code."""
