"""Find the command that installs what another command of the project needs.

`programs.toml` says which programs are of one ecosystem.
"""

from __future__ import annotations

import re
from functools import cache
from posixpath import normpath

from cub.repomap.data import load_table
from cub.repomap.stack.command_lines import split_commands, unwrap_command
from cub.repomap.stack.facts import ProjectCommand, ProjectStack

_CD = re.compile(r"cd[ ]+([\w./-]+)")


def find_install_command(stack: ProjectStack, line: str) -> ProjectCommand | None:
    """Return the command that installs what a line needs: `npm install` for `npm test`.

    It is the one of the nearest folder, from that of the line (`cd packages/api && pytest`) up to
    the root. Return None if no command installs for the ecosystem of the line, or if the line
    tells no ecosystem and there are several to choose from.
    """
    folder, ecosystem = _find_folder(line), detect_ecosystem(line)
    installs = sorted(
        (one for one in stack.filter_commands("install") if _is_above(one.folder, folder)),
        key=lambda one: -len(one.folder),
    )
    known = {detect_ecosystem(one.text) for one in installs} - {""}
    if not ecosystem and len(known) > 1:
        return None
    fitting = {"", ecosystem} if ecosystem else {"", *known}
    return next((one for one in installs if detect_ecosystem(one.text) in fitting), None)


def _find_folder(line: str) -> str:
    """Return the folder that a line changes to first, "" for the root."""
    change = _CD.fullmatch(next(iter(split_commands(line)), ""))
    return normpath(change[1]) if change else ""


def _is_above(folder: str, other: str) -> bool:
    return not folder or f"{other}/".startswith(f"{folder}/")


def detect_ecosystem(line: str) -> str:
    """Return the ecosystem of the first program in a line that has one, "" for none."""
    ecosystems = _load_ecosystems()
    programs = (
        word.rpartition("/")[2]
        for part in split_commands(line)
        for word in (part.split()[0], *unwrap_command(part)[:1])
    )
    return next((ecosystems[program] for program in programs if program in ecosystems), "")


@cache
def _load_ecosystems() -> dict[str, str]:
    rows: dict[str, list[str]] = load_table("programs")["ecosystems"]
    return {program: ecosystem for ecosystem, programs in rows.items() for program in programs}
