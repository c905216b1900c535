"""`cub run`: tasks are claimed, worked on by a client, checked, and committed or put back."""
