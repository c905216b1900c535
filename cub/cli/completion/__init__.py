"""cub.cli.completion."""
