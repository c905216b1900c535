"""Read files exactly, and write plans through `apply_plan`, the one writer of plans."""
