"""The face of cub: parses the command line, and shows what the intents return."""
