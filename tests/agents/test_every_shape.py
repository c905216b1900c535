"""In every shape of a project, a run brings each text to the real agents once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.server import ModelServer
from tests.actions.run.shop import Shop, shop
from tests.actions.test_every_shape import MAP, REPEATED, SHAPES, Shape, count_marks, write_files
from tests.agents.parity_cells import AGENTS, find_installed, init_cub, make_path
from tests.conftest import git

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", SHAPES)
def test_each_text_reaches_the_model_once(name: str, agent: str, tmp_path: Path) -> None:
    find_installed(agent)
    shape, home = SHAPES[name], tmp_path / "home"
    home.mkdir()
    made = make_shop(shape, agent, tmp_path.resolve() / "bakery", home)
    with ModelServer() as server:
        made.environ |= redirect_agent(agent, server.url, home).environ
        made.environ |= {key: (home / path).as_posix() for key, path in shape.environ.items()}
        write_files(home, shape.home)
        if codex_home := shape.environ.get("CODEX_HOME"):
            config = home / ".codex/config.toml"
            shutil.copy(config, home / codex_home) if config.exists() else None
        done = made.run(harness=agent, once=True, no_checks=True)
        texts = next((one.texts for one in server.requests if not one.is_side_request), ())
    counts = count_marks("\n".join(texts))
    expected = dict.fromkeys([*count_marks("".join(shape.files.values())), "MAPMARK"], 1)
    expected |= dict.fromkeys(REPEATED.get((name, agent), ()), 2)
    assert {mark: counts[mark] for mark in expected} == expected, done.notices
    whole = "\n".join(texts)
    assert (whole.count("Work in tasks:"), whole.count("Verify before you ship")) == (1, 1)


def make_shop(shape: Shape, agent: str, root: Path, home: Path) -> Shop:
    """A repository of this shape after `cub init`, with a task; its map is not committed."""
    root.mkdir()
    git(root, "init", "-q")
    made = shop(root, home)
    made.environ["PATH"] = make_path(agent)
    write_files(root, shape.files)
    made.write(".gitignore", "CLAUDE.local.md\n.cub/map.md\n")
    made.commit()
    init_cub(made)
    made.write(".cub/map.md", MAP)
    if arguments := shape.arguments.get(agent):
        settings = {"harnesses": {agent: {"args": arguments}}}
        made.write(".cub/config.yaml", json.dumps(settings))
    made.commit()
    made.task()
    return made
