"""The named targets in a pyproject.toml, those of hatch, PDM, Poe the Poet, tox and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Command, Manifest
from cub.repomap.stack.formats.trees import at, table, text_at, texts
from cub.repomap.stack.python.pyproject_manager import Manager
from cub.repomap.stack.python.tox import tox_commands, tox_ini

_LINES = ("cmd", "shell", "command", "script", "sequence", "composite", "chain", "call")


def targets(manifest: Manifest, tree: dict[str, Any], manager: Manager) -> Iterator[Command]:
    """The commands for the targets of all task runners that are configured in the file."""
    tool = table(tree.get("tool"))
    runners: tuple[tuple[object, Callable[[str], str]], ...] = (
        (at(tool, "poe", "tasks"), lambda name: f"{manager.typed}poe {name}"),
        (at(tool, "pdm", "scripts"), lambda name: f"pdm run {name}"),
        (at(tool, "taskipy", "tasks"), lambda name: f"{manager.typed}task {name}"),
        (at(tool, "rye", "scripts"), lambda name: f"rye run {name}"),
        (at(tool, "pixi", "tasks"), lambda name: f"pixi run {name}"),
        (_of_hatch(tool), lambda name: f"hatch run {name}"),
    )
    for tasks, typed in runners:
        named = {name: line(task) for name, task in table(tasks).items() if name[:1] != "_"}
        yield from commands_of(manifest, named, typed)
    yield from _of_tox(manifest, table(tool.get("tox")), manager)


def line(task: object) -> str:
    """What a task runs, however it is written."""
    found = texts(task) or next((texts(at(task, key)) for key in _LINES if at(task, key)), [])
    return " && ".join(found)


def _of_hatch(tool: dict[str, Any]) -> dict[str, object]:
    """The scripts of all environments, as `hatch run` names them."""
    return {
        name if env == "default" else f"{env}:{name}": script
        for env, settings in table(at(tool, "hatch", "envs")).items()
        for name, script in table(at(settings, "scripts")).items()
    }


def _of_tox(manifest: Manifest, tox: dict[str, Any], manager: Manager) -> tuple[Command, ...]:
    if text_at(tox, "legacy_tox_ini"):
        return tox_ini(manifest, text_at(tox, "legacy_tox_ini"), manager.typed)
    envs = {name: _tox_line(env) for name, env in table(tox.get("env")).items()}
    base = _tox_line(tox.get("env_run_base"))
    listed = [*texts(tox.get("env_list")), *texts(tox.get("envlist"))]
    return tox_commands(manifest, listed, envs, base, manager.typed)


def _tox_line(env: object) -> str:
    commands = at(env, "commands")
    rows = commands if isinstance(commands, list) else []
    return " && ".join(" ".join(texts(row)) for row in rows)
