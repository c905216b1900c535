"""Python's manifests."""
