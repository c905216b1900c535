"""cub.cli.commands."""
