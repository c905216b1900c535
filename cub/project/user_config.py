"""The user's own configuration, which counts in all of their projects."""

from __future__ import annotations

from pathlib import Path

from cub.files.single import read_single


def user_file() -> Path:
    """Where it is, whether or not it exists."""
    from platformdirs import user_config_path

    return user_config_path("cub").absolute() / "config.yaml"


def shown(path: Path) -> str:
    """A path for messages: short where it is in the home folder."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # elsewhere, or nobody's home
        return path.as_posix()


def read_user_file() -> bytes | None:
    """Its bytes; None where there is none."""
    path = user_file()
    return read_single(path, shown(path))
