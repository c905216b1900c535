"""The review of a change between commits: cub's part apart, proven or shown as touched."""
