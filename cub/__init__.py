"""cub: people and agents share one instruction file, and no byte a person wrote is lost."""

__version__ = "0.1.0"
