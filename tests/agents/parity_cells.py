"""How often each text of a project reaches each agent's model, seen with the real agents.

`python -m tests.agents.parity_cells [AGENT...]` looks again and writes parity.json. It needs the
agents of CUB_AGENTS.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cub.actions.agent_context import ContextSource
from cub.actions.agents.agent_proof import prove_agent
from cub.actions.agents.agent_survey import InstalledAgent, make_overview
from cub.actions.agents.text_marks import Arrival
from cub.actions.build_prompt import read_system_prompt
from cub.actions.run.agent_programs import read_agent_versions
from cub.agent_profiles.profiles import redirect_agent
from cub.harness.harness_registry import NATIVE_HARNESSES
from cub.model_server.server import ModelServer
from cub.project.project import Project
from tests.actions.helpers import list_context_sources
from tests.actions.run.shop import Shop, shop
from tests.agents.conftest import find_agent
from tests.agents.line_counts import count_sources
from tests.command_line import call_cub
from tests.conftest import environment, git

CELLS = Path(__file__).with_name("parity.json")
AGENTS = tuple(kind.facts.name for kind in NATIVE_HARNESSES)
_AGENTS_TEXT = "# Bakery\n\nBake the bread before six in the morning.\n"
_CLAUDE_TEXT = "# Till\n\nPrices are in cents, and never in euros.\n"
_IMPORT = "@AGENTS.md\n\n"
_ALL_FILES = {"AGENTS.md": _AGENTS_TEXT, "CLAUDE.md": _CLAUDE_TEXT}
_CODE = {
    "bread.py": "def count_dozens(loaves: int) -> int:\n    return loaves // 12\n",
    "pyproject.toml": '[project]\nname = "bakery"\ndescription = "Counts bread and bakes it."\n'
    "[tool.pytest.ini_options]\n",
    "README.md": "# Bakery\n\nCounts bread and bakes it.\n",
}
_INNERMOST = re.compile(r"[{\[][^{}\[\]]*[}\]]")
Files = dict[str, str]
# The user's files before `cub init`; a link is a text with an arrow.
SHAPES: dict[str, Files] = {
    "only AGENTS.md": {"AGENTS.md": _AGENTS_TEXT},
    "only CLAUDE.md": {"CLAUDE.md": _CLAUDE_TEXT},
    "both": _ALL_FILES,
    "none": {},
    "import": {**_ALL_FILES, "CLAUDE.md": _IMPORT + _CLAUDE_TEXT},
    "symlink": {"AGENTS.md": _AGENTS_TEXT, "CLAUDE.md": "-> AGENTS.md"},
    "inline": {"AGENTS.md": _AGENTS_TEXT, ".cub/config.yaml": "inline: [map, constitution]\n"},
    "init --agent": {"AGENTS.md": _AGENTS_TEXT},
}
Cell = dict[str, Any]


def record_cell(agent: str, shape: str, folder: Path) -> Cell:
    """What reached the model in each use of an agent, in a project of this shape.

    `fix` has the steps after which each text reaches it in interactive use. They are done here, and
    the agent is started once more to see that.
    """
    home = folder / "home"
    home.mkdir()
    made = make_project(shape, agent, folder / "bakery", home)
    made.environ["PATH"] = make_path(agent)
    installed = find_installed(agent)
    uses = _prove(installed, made)
    real = _record_run(made, agent, home)
    assert uses["run"] == {label: real[label] for label in uses["run"]}, "a proof differs"
    steps = list(iter_steps(installed, made))
    if steps:
        after = _prove(installed, made)
        assert {*after["interactive"].values(), *after["run"].values()} == {"1"}, (steps, after)
    return {"interactive": uses["interactive"], "run": real, "fix": steps}


def _prove(agent: InstalledAgent, made: Shop) -> dict[str, dict[str, str]]:
    """What `cub agents prove` sees, which has to be what cub says of this agent."""
    project = Project.load(made.root)
    proof = prove_agent(agent, project, made.environ, trusted=None)
    assert not proof.problem, proof.problem
    sources = [one for one in proof.sources if one.path]
    interactive = _to_texts({one.label: one.interactive for one in sources})
    known = count_known(agent, made)
    assert interactive == known, f"cub.project.agent_reading says {known}, and not {interactive}"
    return {"interactive": interactive, "run": _to_texts({one.label: one.run for one in sources})}


def count_known(agent: InstalledAgent, made: Shop) -> dict[str, str]:
    """How often an agent loads each text of a project by itself, by what cub knows of it."""
    sources = make_overview(agent, Project.load(made.root), {}).sources
    return _to_texts({one.label: Arrival(one.times, one.is_cut) for one in sources})


def iter_steps(agent: InstalledAgent, made: Shop) -> Iterator[str]:
    """Do what `cub agents` says has to be done for an agent, step by step, and yield each step."""
    while step := make_overview(agent, Project.load(made.root), {}).fix:
        yield step
        claude = made.root / "CLAUDE.md"
        if step.startswith("cub init"):
            _call_cub(made, *step.split()[1:])
        elif "mv -f CLAUDE.md AGENTS.md" in step:
            claude.replace(made.root / "AGENTS.md")
            _call_cub(made, "init")
        elif step.startswith("add the line"):
            claude.write_text(_IMPORT + claude.read_text(encoding="utf-8"), encoding="utf-8")
        else:
            assert step.startswith("move the text for this agent"), step
            _move_text(made.root)


def init_cub(made: Shop) -> None:
    _call_cub(made, "init")


def _call_cub(made: Shop, *words: str) -> None:
    done = call_cub(words, cwd=made.root, environ=environment(Path(made.environ["HOME"])))
    assert done.code == 0, done.err


def _move_text(root: Path) -> None:
    source, target = root / "CLAUDE.md", root / "AGENTS.md"
    before, after = source.read_text(encoding="utf-8"), target.read_text(encoding="utf-8")
    assert _CLAUDE_TEXT in before
    source.write_text(before.replace(_CLAUDE_TEXT, ""), encoding="utf-8")
    target.write_text(_CLAUDE_TEXT + after, encoding="utf-8")


def find_installed(agent: str) -> InstalledAgent:
    """The agent of CUB_AGENTS. Skips the test if it is not there."""
    folder = find_agent(agent)
    if folder is None:
        pytest.skip(f"{agent} is not in CUB_AGENTS")
    kind = next(kind for kind in NATIVE_HARNESSES if kind.facts.name == agent)
    return InstalledAgent(kind(), "", _read_version(agent))


@cache
def _read_version(agent: str) -> str:
    kind = next(kind for kind in NATIVE_HARNESSES if kind.facts.name == agent)
    environ = {**os.environ, "PATH": make_path(agent)}
    return read_agent_versions([kind()], Project.load(Path.cwd()), environ)[agent]


def make_path(agent: str) -> str:
    return f"{find_agent(agent)}{os.pathsep}{os.environ['PATH']}"


def make_project(shape: str, agent: str, root: Path, home: Path) -> Shop:
    """A repository of this shape, in which `cub init` was run, and with a task."""
    root.mkdir()
    git(root, "init", "-q")
    made = shop(root.resolve(), home)
    for name, text in {**_CODE, **SHAPES[shape]}.items():
        if text.startswith("-> "):
            (made.root / name).symlink_to(text.removeprefix("-> "))
        else:
            made.write(name, text)
    made.commit()  # the map has what git tracks
    words = ["init", "--agent", agent] if shape == "init --agent" else ["init"]
    _call_cub(made, *words)
    made.commit()
    made.task()
    return made


def _record_run(made: Shop, agent: str, home: Path) -> dict[str, str]:
    before = set(made.cub.glob("runs/*/*/*/prompt.md"))
    with ModelServer() as server:
        redirect = redirect_agent(agent, server.url, home)
        made.environ |= redirect.environ
        made.run(harness=agent, once=True, no_checks=True)
        texts = next(one.texts for one in server.requests if not one.is_side_request)
    (prompt,) = set(made.cub.glob("runs/*/*/*/prompt.md")) - before
    project = Project.load(made.root)
    sources = list_context_sources(project, "nothing")
    for label, text in (
        ("rules of a run", read_system_prompt(project.tree)),
        ("task", prompt.read_text()),
    ):
        sources.append(ContextSource(label, "", text, 0, text))
    labels = [source.label for source in sources]
    return _to_texts(dict(zip(labels, count_sources(sources, texts), strict=True)))


def _to_texts(cell: Mapping[str, Arrival | None]) -> dict[str, str]:
    return {label: arrival.to_text() if arrival else "" for label, arrival in cell.items()}


def main(agents: Iterable[str], say: Callable[[str], object]) -> None:
    for agent in agents or AGENTS:
        for shape in SHAPES:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name).resolve()
                os.environ["XDG_STATE_HOME"] = str(folder / "state")
                os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
                try:
                    cell = record_cell(agent, shape, folder)
                except AssertionError as error:
                    say(f"{agent}, {shape}: {error}\n")
                    continue
            _save(agent, shape, cell)
            say(f"{agent}, {shape}: {cell}\n")


def _save(agent: str, shape: str, cell: Cell) -> None:
    tree = json.loads(CELLS.read_text(encoding="utf-8")) if CELLS.exists() else {}
    versions, cells = tree.get("versions", {}), tree.get("cells", {})
    versions[agent] = _read_version(agent)
    cells.setdefault(agent, {})[shape] = cell
    ordered = {
        "versions": {one: versions[one] for one in AGENTS if one in versions},
        "cells": {
            one: {name: cells[one][name] for name in SHAPES if name in cells[one]}
            for one in AGENTS
            if one in cells
        },
    }
    # One line for each use of an agent.
    text = _INNERMOST.sub(
        lambda match: json.dumps(json.loads(match[0])), json.dumps(ordered, indent=1)
    )
    CELLS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdout.write)
