"""Make the repositories of a place's trees, with what they take over from the person's.

A filter of files such as `sh ./clean.sh` runs at the top of the tree whose files git reads or
writes, so an attempt may have written what it executes: it has to run behind the walls.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cub.git.process import decode_output, list_settings, try_git
from cub.place.checkout import Checkout, TreeGit
from cub.place.folder import empty_folder, escape_pattern

# The person's settings that decide what a file's object is, who commits, and what a filter does.
_COPIED = ("filter.", "user.", "core.autocrlf", "core.eol", "core.safecrlf", "core.filemode",
           "core.symlinks", "core.ignorecase", "core.precomposeunicode",
           "core.hookspath", "extensions.objectformat")  # fmt: skip
_LISTED_REFS = ("refs/heads", "refs/tags", "refs/remotes")
_KEY = re.compile(r"filter\..*\.(clean|smudge|process)")
# These programs keep objects or keys in git's directory, and execute nothing of a tree.
_OUTSIDE = re.compile(r"\s*(git[- ]lfs|git-crypt)( [\w%-]+)*\s*")
_TRUE = ("true", "yes", "on", "1", "")


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """Hold what a place takes over from the person's repository.

    `config` is the text of a configuration, `refs` the branches and tags, `excluded` the text of
    `info/exclude`. `filters` are the commands that could execute something of a tree.
    """

    config: bytes
    refs: Mapping[str, str]
    excluded: bytes
    shallow: bytes
    filters: Mapping[str, str]
    hooks_folder: Path
    signs_commits: bool


def read_repository_settings(checkout: Checkout) -> RepositorySettings:
    """Read what a place takes over from the person's repository, as it is now."""
    listed = try_git(checkout.toplevel, "config", "--show-scope", "-z", "--list")
    settings = list_settings(listed.stdout)
    values = {setting.key: setting.value for setting in settings}
    words = ("for-each-ref", "--format=%(refname) %(objectname)", *_LISTED_REFS)
    refs = decode_output(try_git(checkout.toplevel, *words).stdout)
    hooks = Path(values.get("core.hookspath") or checkout.common_dir / "hooks").expanduser()
    own = [(one.key, one.value) for one in settings if one.is_repository]
    return RepositorySettings(
        _format_config([(key, value) for key, value in own if key.startswith(_COPIED)]),
        dict(line.partition(" ")[::2] for line in refs.splitlines()),
        _read_file(checkout.common_dir / "info" / "exclude"),
        _read_file(checkout.common_dir / "shallow"),
        select_filters(values),
        checkout.toplevel / hooks,
        values.get("commit.gpgsign", "false").lower() in _TRUE,
    )


def _format_config(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Return the text of a configuration file (git-config(1), syntax)."""
    version = 1 if any(key == "extensions.objectformat" for key, _ in pairs) else 0
    lines = [f"[core]\n\trepositoryformatversion = {version}\n\tbare = false\n"]
    for key, value in pairs:
        section, _, rest = key.partition(".")
        inner, _, name = rest.rpartition(".")
        subsection = f' "{_escape(inner)}"' if inner else ""
        quoted = _escape(value).replace("\n", "\\n")
        lines.append(f'[{section}{subsection}]\n\t{name} = "{quoted}"\n')
    return "".join(lines).encode("utf-8", "surrogateescape")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def write_repository(
    git: TreeGit,
    settings: RepositorySettings,
    alternates: Iterable[Path],
    head: tuple[str, str],
    excluded: Iterable[str] = (),
) -> None:
    """Make `.git` in a tree anew: what a command in it has made of the last one is gone.

    `head` has the commit and the branch ("" for none). `excluded` are paths that git ignores there.
    """
    folder = git.tree / ".git"
    empty_folder(folder)
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (folder / name).mkdir(parents=True)
    commit, branch = head
    refs = dict(settings.refs) | ({branch: commit} if branch else {})
    text = "".join(f"{oid} {name}\n" for name, oid in sorted(refs.items()))
    lines = "".join(f"/{escape_pattern(path)}\n" for path in excluded)
    contents = {
        "HEAD": f"ref: {branch}\n" if branch else f"{commit}\n",
        "packed-refs": text,
        "objects/info/alternates": "".join(f"{os.fspath(path)}\n" for path in alternates),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    (folder / "config").write_bytes(settings.config)
    separator = b"\n" if settings.excluded and not settings.excluded.endswith(b"\n") else b""
    exclude = settings.excluded + separator + lines.encode("utf-8", "surrogateescape")
    (folder / "info" / "exclude").write_bytes(exclude)
    if settings.shallow:
        (folder / "shallow").write_bytes(settings.shallow)
    with suppress(FileNotFoundError):  # a tree without files
        shutil.copy2(git.index, folder / "index")  # with its time: git compares those of files


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes() if stat.S_ISREG(path.stat().st_mode) else b""
    except OSError:
        return b""


def select_filters(values: Mapping[str, str]) -> dict[str, str]:
    """Return the commands of filters that could execute something of a tree, by their settings."""
    return {
        key: line
        for key, line in values.items()
        if _KEY.fullmatch(key) and line and not _OUTSIDE.fullmatch(line)
    }


def confine_filters(
    filters: Mapping[str, str], confine: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> dict[str, str]:
    """Return settings that run the filters behind walls; `confine` puts a command there."""
    return {key: _confine_filter(key, line, confine) for key, line in filters.items()}


def _confine_filter(
    key: str, line: str, confine: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> str:
    if key.endswith(".process"):  # git replaces nothing in it
        return shlex.join(confine(("/bin/sh", "-c", line)))
    # The path must not become a part of the script: git quotes it for one shell only.
    script = re.sub("%([f%])", lambda match: '"$1"' if match[1] == "f" else "%", line)
    words = confine(("/bin/sh", "-c", script, "sh"))
    return f"{shlex.join(words).replace('%', '%%')} {'%f' if '%f' in line else ''}".rstrip()
