"""Hold a session of the built-in agent with a person at a terminal."""
