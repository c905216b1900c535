"""Connect the built-in agent with MCP servers, and offer their tools to the model."""
