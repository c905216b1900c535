"""Read tasks as other tools write them, and write them for export; pure functions of bytes."""
