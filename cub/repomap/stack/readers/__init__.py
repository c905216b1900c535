"""Languages whose manifests take a file or two to read."""
