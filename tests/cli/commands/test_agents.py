from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cub import __version__
from tests.actions.agents.fake_agents import install_fake_claude
from tests.actions.run.shop import alive
from tests.cli.stories import write
from tests.conftest import Cub, environment

RULES = "# Bakery\n\nBake bread before six in the morning.\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with a program that is taken for Claude Code."""
    return f"{install_fake_claude(tmp_path / 'bin')}{os.pathsep}/usr/bin"


def test_the_table_has_versions_texts_costs_and_what_to_do(
    cub: Cub, project: Path, path: str
) -> None:
    write(project, "AGENTS.md", RULES)
    write(project, "CLAUDE.md", "Never sell yesterday's bread as fresh.\n")
    write(project, ".cub/config.yaml", "harnesses: {mine: {argv: [mine]}}\n")
    done = cub("agents", PATH=path)
    assert (done.code, done.err) == (0, "")
    rows = [" ".join(line.split()) for line in done.out.splitlines()]
    assert rows[0] == "agent version tokens AGENTS.md CLAUDE.md"
    assert rows[1] == "Claude Code 2.1.330 10 0 1"
    assert rows[2] == "Codex not installed 10 1 0"
    assert rows[7] == f"cub code {__version__} 20 1 1"
    assert rows[8:11] == ["mine not installed not known", "", "agent to do"]
    assert rows[11] == "Claude Code add the line `@AGENTS.md` to CLAUDE.md"
    assert rows[12] == "Codex npm install -g @openai/codex"
    assert rows[-1] == "mine mine is not in PATH"


def test_each_text_of_cubs_has_a_column(cub: Cub, project: Path, path: str) -> None:
    write(project, "AGENTS.md", RULES)
    write(project, "pyproject.toml", '[project]\nname = "bakery"\n')
    assert cub("init").code == 0
    header, claude, codex, *_ = cub("agents", PATH=path).out.splitlines()
    assert header.split() == [
        "agent", "version", "tokens", "AGENTS.md", "section", "constitution", "map",
    ]  # fmt: skip
    assert claude.split()[-4:] == ["1", "1", "1", "1"]
    assert codex.split()[-4:] == ["1", "1", "0", "0"]


@pytest.mark.thorough
def test_an_old_version_is_named(cub: Cub, tmp_path: Path) -> None:
    folder = install_fake_claude(tmp_path / "bin", version="2.0.1")
    assert "2.0.1, older than 2.1.197" in cub("agents", PATH=str(folder)).out


def test_a_proof_shows_each_text_and_where_it_was_made(cub: Cub, project: Path, path: str) -> None:
    write(project, "AGENTS.md", RULES)
    for name in (".mcp.json", *(f".codex/{number}.toml" for number in range(4))):
        write(project, name, "{}\n")
    done = cub("agents", "prove", "claude", PATH=path)
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines == [
        "Claude Code 2.1.330",
        "text tokens interactive cub run",
        "AGENTS.md (yours) 10 1 1",
        "rules of a run 511 - 1",
        "task prompt 21 - 1",
    ]
    named = ".codex/0.toml, .codex/1.toml, .codex/2.toml, and 2 more"
    left_out, network = done.err.splitlines()
    assert left_out == f"not trusted, so left out: {named}"
    assert network.startswith(("The agent had no network.", "The agent had a network, which"))
    assert done.code == 0


@pytest.mark.thorough
def test_the_built_in_agent_keeps_its_promise(cub: Cub, project: Path, path: str) -> None:
    write(project, "AGENTS.md", RULES)
    write(project, "CLAUDE.md", "Never sell yesterday's bread as fresh.\n")
    write(project, ".cub/config.yaml", "code: {model: ollama/none}\n")
    assert cub("init").code == 0
    done = cub("agents", "prove", "builtin", PATH=path)
    assert done.code == 0, done.out
    assert done.out.splitlines()[0] == f"cub code {__version__}"
    assert len(done.out.splitlines()) == 8


@pytest.mark.thorough
def test_a_promise_that_is_not_kept_is_exit_code_1(cub: Cub, project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", RULES)
    folder = install_fake_claude(tmp_path / "bin", reads=())
    done = cub("agents", "prove", "claude", PATH=f"{folder}:/usr/bin")
    assert done.code == 1
    assert "AGENTS.md (yours)  10      0            0" in done.out


def test_an_agent_that_can_not_be_started_is_exit_code_1(cub: Cub, path: str) -> None:
    done = cub("agents", "prove", "codex", PATH=path)
    assert done.code == 1
    assert "not proven: codex is not in PATH" in done.out


@pytest.mark.thorough
def test_a_moment_that_did_not_come_is_exit_code_1(cub: Cub, path: str) -> None:
    done = cub("agents", "prove", "claude", "--after", "subagent", PATH=path)
    assert done.code == 1
    assert "unknown after subagent: it did not start a subagent" in done.out


@pytest.mark.thorough
def test_trust_copies_what_runs(cub: Cub, project: Path, path: str) -> None:
    write(project, ".mcp.json", "{}\n")
    assert "left out" not in cub("agents", "prove", "--trust", PATH=path).err


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_proof_that_is_stopped_leaves_neither_a_folder_nor_a_process(
    project: Path, home: Path, tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / "started")
    started = os.open(tmp_path / "started", os.O_RDWR)  # no end between two writers
    opened = f"os.open({str(tmp_path / 'started')!r}, os.O_WRONLY)"
    more = f"import time; os.write({opened}, b'%d\\n' % os.getpid()); time.sleep(1000)"
    folder = install_fake_claude(tmp_path / "bin", more=more)
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "cub", "agents", "prove", "claude"],
        cwd=project,
        env={**environment(home), "PATH": f"{folder}:/usr/bin", "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        with os.fdopen(started) as pids:
            agents = [int(pids.readline()) for _ in range(2)]  # both starts go on at one time
        assert len(list((tmp_path / "tmp").iterdir())) == 1
    finally:
        process.send_signal(getattr(signal, name))
        output = process.communicate()[0]
    assert (output, process.returncode) == (b"", 130)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert alive(agents) == []


def test_an_unknown_name_is_refused(cub: Cub, path: str) -> None:
    done = cub("agents", "prove", "zebra", PATH=path)
    assert done.code == 2
    assert "unknown agent 'zebra'" in done.err
