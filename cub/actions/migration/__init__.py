"""Plan migrations: which are due, and what their steps write."""
