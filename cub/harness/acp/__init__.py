"""Speak the Agent Client Protocol with an agent, and report its work in cub's event protocol."""
