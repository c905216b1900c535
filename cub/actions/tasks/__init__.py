"""Read and change tasks, for people and agents."""
