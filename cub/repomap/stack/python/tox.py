"""tox: its environments as commands, from tox.ini, setup.cfg or pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cub.repomap.stack.commands.purposes import purpose_of_command, purpose_of_target
from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Command, Manifest
from cub.repomap.stack.formats.ini import sections

# Environments for one version of Python each: `py` stands for the one that tox runs on.
_PYTHON = re.compile(r"(?:py|pypy|python)[\d.]*(?:-.*)?|\d[\d.]*")
_MOST_ENVIRONMENTS = 200


def tox_ini(manifest: Manifest, text: str, typed: str) -> tuple[Command, ...]:
    """The commands for the environments of a tox.ini."""
    found = sections(text)
    listed = found.get("tox", {})
    names = expanded(listed.get("envlist", "") or listed.get("env_list", ""))
    envs = {
        name.removeprefix("testenv:"): section.get("commands", "")
        for name, section in found.items()
        if name.startswith("testenv:")
    }
    return tox_commands(manifest, names, envs, found.get("testenv", {}).get("commands", ""), typed)


def tox_commands(
    manifest: Manifest, listed: Sequence[str], envs: Mapping[str, str], base: str, typed: str
) -> tuple[Command, ...]:
    """The commands for environments: those listed, those with settings, and the plain one.

    `base` is what an environment runs that says nothing itself.
    """
    named = dict.fromkeys(listed, "") | dict(envs)
    for name in [name for name in named if "{" in name or _PYTHON.fullmatch(name)]:
        del named[name]
    plain = []
    if purpose_of_command(base) == "test" and not {"test", "tests"}.intersection(named):
        plain = [Command("test", f"{typed}tox -e py", manifest.path, manifest.folder, "target")]
        # Environments of other names for tests are variants of the plain one.
        named = {n: line for n, line in named.items() if purpose_of_target(n, line) != "test"}
    return (*plain, *commands_of(manifest, named, lambda name: f"{typed}tox -e {name}"))


def expanded(text: str) -> list[str]:
    """The environments of a list: `py{310,311}-x, lint` without what is in braces expanded."""
    parts = re.split(r",(?![^{}]*\})|\s+", text[:4000])
    return [part for part in parts if part][:_MOST_ENVIRONMENTS]
