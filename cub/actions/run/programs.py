"""The clients of a run whose program is there: looked at before anything is begun."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.actions.run.client import environment
from cub.actions.run.settings import RunSettings
from cub.errors import CubError
from cub.git.calling import ask
from cub.harness.base import Harness
from cub.harness.custom import CONFIG
from cub.processes.programs import why_missing
from cub.project.project import Project

# Wrappers that start the program behind them on this machine, as it would be without them.
_TRANSPARENT = (
    "nice", "ionice", "chrt", "taskset", "nohup", "setsid", "stdbuf", "timeout", "caffeinate",
)  # fmt: skip


class Missing(NamedTuple):
    """A client that can't be started: why, and the key that names the program."""

    harness: str
    why: str
    key: str

    def told(self) -> str:
        """For a person, where another client goes on."""
        return f"the client {self.harness} is left out: {self.why} ({self.key})"


def find_missing(
    clients: Sequence[Harness], settings: RunSettings, project: Project, environ: Mapping[str, str]
) -> list[Missing]:
    """The clients that can't be started, as far as the first word of a command tells."""
    given = environment(settings.hide_env, environ)
    found = (_look(one, settings, project, {**given, **one.environ}) for one in clients)
    return [one for one in found if one]


def require_one(clients: Sequence[Harness], missing: Sequence[Missing]) -> list[Harness]:
    """The clients that are there. CubError, with what to do, if there is none."""
    names = {one.harness for one in missing}
    if there := [client for client in clients if client.name not in names]:
        return there
    first = missing[0]
    if len(missing) == 1:
        raise CubError(
            f"the client {first.harness} can't be started: {first.why}",
            where=f"{CONFIG}: {first.key}",
            hint=_hint(first),
        )
    raise CubError(
        "none of the clients can be started",
        where=CONFIG,
        hint=_hint(first),
        details=[f"{one.harness}: {one.why} ({one.key})" for one in missing],
    )


def _look(
    client: Harness, settings: RunSettings, project: Project, environ: Mapping[str, str]
) -> Missing | None:
    words = [("run.wrap", one) for one in settings.wrap[:1]]
    if not words or posixpath.basename(settings.wrap[0]) in _TRANSPARENT:
        words.append((f"harnesses.{client.name}.argv", client.program))
    for key, name in words:
        if name and (why := _why(name, settings, project, environ)):
            return Missing(client.name, why, key)
    return None


def _why(name: str, settings: RunSettings, project: Project, environ: Mapping[str, str]) -> str:
    if settings.asked.worktree and "/" in name and not name.startswith("/"):
        return "" if settings.branch else _why_not_committed(name, project.root)
    return why_missing(name, project.root, environ)


def _why_not_committed(name: str, folder: Path) -> str:
    """A work tree has what is committed; of another branch than this one, nobody looks."""
    answer = ask(folder, "ls-tree", "HEAD", "--", posixpath.normpath(name))
    if answer.code == 0 and not answer.out:
        return f"{name} is not in the last commit, and a work tree has nothing else"
    return ""


def _hint(missing: Missing) -> str:
    name = missing.why.split(" ", 1)[0]
    if name.startswith("~"):
        return "write the whole path: no shell replaces `~`"
    if missing.why.endswith("is not executable"):
        return f"`chmod +x {name}`"
    if missing.why.endswith("nothing else"):
        return "commit it, or write its whole path"
    return "install it, add its folder to PATH, or name another client with --harness"
