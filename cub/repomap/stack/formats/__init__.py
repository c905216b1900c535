"""What manifests are written in."""
