"""Complete command lines: a shell asks with environment variables, and cub answers."""
