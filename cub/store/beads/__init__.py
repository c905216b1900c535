"""Tasks that beads keeps, through its client `bd`."""
