"""Find the user's directories that agents and tools write: sessions, logins, and caches.

While an agent works, the rest of the home directory is read-only. Settings, and programs that run
on their own later, must stay as they are: they are not in these directories, or they are among
their `read_only` paths.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class UserFolder(NamedTuple):
    """Describe directories of the user's that a program writes.

    They are `below` the one that the first of the `variables` in the environment names, or else
    below `default`; "" is that directory itself. `read_only` are glob patterns of what a program
    must not change there. Missing directories are needed if one of the `programs` is installed, or
    if no program is named.
    """

    default: str
    variables: tuple[str, ...] = ()
    below: tuple[str, ...] = ("",)
    programs: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()

    def locate(self, environ: Mapping[str, str]) -> Path | None:
        """Return the directory that all are below; None if there is none, or no absolute path."""
        named = next(filter(None, map(environ.get, self.variables)), "")
        # Such as GOPATH, a variable may name several; programs write into the first.
        first, *rest = Path(named.split(os.pathsep)[0] or self.default).parts or ("",)
        path = Path(_find_home(environ) if first == "~" else first, *rest)
        return path if path.is_absolute() else None

    def is_needed(self, environ: Mapping[str, str]) -> bool:
        """Return whether a program would create what is missing."""
        path = environ.get("PATH")
        return not self.programs or any(shutil.which(one, path=path) for one in self.programs)


_CACHE = UserFolder(
    "~/.cache",
    ("XDG_CACHE_HOME",),
    # Virtual environments, hooks of git, package managers, browsers, and what a shell or an editor
    # executes at its start.
    read_only=(
        "pypoetry/virtualenvs", "uv/environments-v*", "pre-commit", "prek", "node", "bazelisk",
        "ms-playwright*", "puppeteer", "Cypress", "electron", "p10k-*", "gitstatus", "starship",
        "nvim", "opencode/bin",
    ),
)  # fmt: skip
_GRADLE = ("caches", "daemon", "native", "notifications", "workers", ".tmp")
_DART = ("hosted", "hosted-hashes", "git", "log", "_temp")
_JULIA = ("packages", "compiled", "registries", "artifacts", "clones", "logs", "scratchspaces")
# What checks and agents write. A whole directory is not listed if it also has programs in PATH or
# settings, such as ~/.cargo/bin, ~/.gradle/init.d, ~/.m2/settings.xml and ~/.bundle/config.
TOOL_CACHES = (
    _CACHE,
    UserFolder("~/Library/Caches", programs=("sw_vers",), read_only=_CACHE.read_only),
    *(
        UserFolder("", (name,))
        for name in (
            "PIP_CACHE_DIR", "UV_CACHE_DIR", "RUFF_CACHE_DIR", "MYPY_CACHE_DIR", "GOCACHE",
            "GOMODCACHE", "GOLANGCI_LINT_CACHE", "DENO_DIR", "YARN_CACHE_FOLDER", "SCCACHE_DIR",
            "COURSIER_CACHE", "COMPOSER_CACHE_DIR", "TF_PLUGIN_CACHE_DIR", "ZIG_GLOBAL_CACHE_DIR",
        )
    ),
    UserFolder(
        "~/.npm", ("npm_config_cache", "NPM_CONFIG_CACHE"), programs=("npm",), read_only=("_npx",)
    ),
    UserFolder("~/.local/share", ("XDG_DATA_HOME",), ("pnpm/store",), ("pnpm",)),
    UserFolder("", ("PNPM_HOME",), ("store",)),
    UserFolder("~/.yarn/berry", ("YARN_GLOBAL_FOLDER",), programs=("yarn",)),
    UserFolder("~/.bun", ("BUN_INSTALL",), ("install/cache",), ("bun",)),
    UserFolder("~/.cargo", ("CARGO_HOME",), ("registry", "git"), ("cargo",)),
    UserFolder("~/go", ("GOPATH",), ("pkg",), ("go",)),
    UserFolder("~/.gradle", ("GRADLE_USER_HOME",), _GRADLE, ("gradle",)),
    UserFolder("~/.m2", (), ("repository",), ("mvn",)),
    UserFolder("~/.ivy2", (), ("cache",), ("sbt",)),
    UserFolder("~/.sbt", (), ("boot",), ("sbt",)),
    UserFolder("~/.nuget/packages", ("NUGET_PACKAGES",), programs=("dotnet",)),
    UserFolder("~/.local/share", ("XDG_DATA_HOME",), ("NuGet",), ("dotnet",)),
    UserFolder("~/.bundle", ("BUNDLE_USER_HOME",), ("cache",), ("bundle",)),
    UserFolder("~/.composer", ("COMPOSER_HOME",), ("cache",), ("composer",)),
    UserFolder("~/.pub-cache", ("PUB_CACHE",), _DART, ("dart",)),
    UserFolder("~/.hex", ("HEX_HOME",), ("packages",), ("mix",)),
    UserFolder("~/.cabal", ("CABAL_DIR",), ("packages", "store", "logs"), ("cabal",)),
    UserFolder("~/.julia", ("JULIA_DEPOT_PATH",), _JULIA, ("julia",)),
    UserFolder("~/.swiftpm", (), ("cache",), ("swift",)),
    UserFolder("~/.ccache", ("CCACHE_DIR",), programs=("ccache",)),
)  # fmt: skip


# What agents have in their own directories besides sessions and logins. A name that an agent does
# not use protects nothing.
AGENT_SETTINGS = (
    "settings*.json", "*.md", "agents", "bin", "commands", "extensions", "hooks*", "plugins",
    "prompts", "rules", "skills",
)  # fmt: skip


class WritableFolders(NamedTuple):
    """Hold directories to write, and what in them is `read_only`: real, absolute paths."""

    folders: tuple[Path, ...]
    read_only: tuple[Path, ...]


def prepare_user_folders(
    wanted: Iterable[UserFolder], environ: Mapping[str, str], outside: Iterable[Path] = ()
) -> WritableFolders:
    """Return the directories that programs write, and create those that they would create.

    A directory that has one of the paths `outside` in it, or that is in one of them, is left out:
    a variable may lead into the project, and a project may be in a cache.
    """
    home = _find_home(environ).resolve()
    kept = [path.resolve() for path in outside]
    folders: dict[Path, None] = {}
    read_only: dict[Path, None] = {}
    for one in wanted:
        for path in _list_folders(one, environ):
            if home.is_relative_to(path) or any(map(path.is_relative_to, kept)):
                continue
            if any(other.is_relative_to(path) for other in kept):
                continue
            folders[path] = None
            read_only |= dict.fromkeys(
                found.resolve() for pattern in one.read_only for found in path.glob(pattern)
            )
    inside = [path for path in read_only if any(map(path.is_relative_to, folders))]
    return WritableFolders(tuple(folders), tuple(inside))


def _find_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _list_folders(one: UserFolder, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the directories that exist, or can be created."""
    if not (base := one.locate(environ)):
        return
    for name in one.below:
        path = base / name
        if not path.exists() and one.is_needed(environ):
            with suppress(OSError):
                path.mkdir(mode=0o700, parents=True)
        if path.is_dir():
            yield path.resolve()
