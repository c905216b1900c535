"""Drive coding agents: start them, read what they report, and judge their success."""
