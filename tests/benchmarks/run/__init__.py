"""What `cub run` costs itself."""
