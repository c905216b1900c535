"""Plan what commands do: their plans, and what they report."""
