"""Review a change between commits: verify cub's part, or show that it was edited."""
