"""Work on a prompt with a model and tools: the built-in agent. Nothing in it prints."""
