"""`cub demo`: a run that fails, is fixed and committed; and with --sections, an AGENTS.md."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.processes import run_in_shell
from tests.conftest import Cub, environment
from tests.docs.recording import normalize_output, read_recording
from tests.fork_server import get_cub_command

pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("git") is None, reason="the demo's run needs git"
)
SURROUNDINGS = """\
[user]
name = Ada
email = ada@example.org
signingkey = missing
[commit]
gpgsign = true
template = /nowhere/template
[tag]
gpgsign = true
[core]
hooksPath = {hooks}
excludesFile = {hooks}/ignored
abbrev = 30
[init]
defaultBranch = trunk
templateDir = {hooks}
[safe]
directory = /nowhere
[color]
ui = always
"""


def test_a_run_breaks_a_test_and_fixes_it(cub: Cub, home: Path, tmp_path: Path) -> None:
    done = cub("demo", TMPDIR=str(tmp_path))
    assert (done.code, done.err) == (0, "")
    assert "checks_failed: test_gross.Prices.test_gross: AssertionError: 190.0 != 119" in done.out
    assert "Failure reason: checks_failed: `test_gross.Prices.test_gross`" in done.out
    assert re.search(r"ok: 2 files \+12 -0, commit [0-9a-f]{8}", done.out)
    assert done.out.endswith("\nNext, in your own repository:  cub init\n")
    assert "AGENTS.md" not in done.out
    recorded = " ".join(read_recording()).split()
    assert normalize_output(done.out).split() == recorded, "run `python -m tests.docs.recording`"
    assert not list(tmp_path.glob("cub-demo-*"))
    # No state, trust or configuration: of caches, only directories of the tools that are here.
    assert [path for path in home.rglob("*") if not path.is_dir()] == []


def test_the_sections_are_played_alone(cub: Cub, tmp_path: Path) -> None:
    done = cub("demo", "--sections", "--keep", "-q", TMPDIR=str(tmp_path))
    assert (done.code, done.err.count("error")) == (0, 1)  # the refusal that is shown
    assert "AGENTS.md has its 78 original bytes, and the line added since:" in done.out
    assert "cub run" not in done.out
    (folder,) = tmp_path.glob("cub-demo-*")
    root = folder.resolve() / "shop"
    assert done.out.endswith(
        f"\nThe scratch repository is in {root.as_posix()}\n"
        f"  Look at it:  cd {root.as_posix()} && cat AGENTS.md\n"
        f"  Delete it:   rm -rf {root.parent.as_posix()}\n"
    )


@pytest.mark.thorough
def test_the_users_settings_change_nothing(cub: Cub, home: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    (hooks / "hooks").mkdir(parents=True)
    for hook in (hooks / "pre-commit", hooks / "hooks" / "pre-commit"):
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    (hooks / "ignored").write_text("*.py\n")
    (home / ".gitconfig").write_text(SURROUNDINGS.format(hooks=hooks.as_posix()))
    config = home / ".config" / "cub" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("run:\n  max_attempts: 1\n  wrap: [/nowhere/sandbox]\n")
    words = {"GIT_DIR": "/nowhere", "GIT_TEMPLATE_DIR": hooks.as_posix(), "TMPDIR": str(tmp_path)}
    done = cub("demo", "--keep", **words)
    assert done.code == 0, done
    (look,) = re.findall(r"  Look at it:  (cd .*)", done.out)
    log = subprocess.check_output(
        ["bash", "-c", look], text=True, env={**environment(home), "GIT_CONFIG_GLOBAL": os.devnull}
    )
    assert "    A shop with a test\n" in log
    assert "Prices with tax" in log


def test_without_git_the_sections_are_played(cub: Cub, tmp_path: Path) -> None:
    done = cub("demo", PATH=str(tmp_path))
    assert done.code == 0
    assert "install git to see the demo of a run" in done.err
    assert "original bytes" in done.out


def test_another_directory_is_used_if_tmpdir_cannot_be_written(cub: Cub, tmp_path: Path) -> None:
    done = cub("demo", "--sections", "-q", TMPDIR=str(tmp_path / "missing"))
    assert done.code == 0
    assert not (tmp_path / "missing").exists()


@pytest.mark.thorough
def test_a_reader_that_goes_away_ends_the_demo(project: Path, home: Path, tmp_path: Path) -> None:
    line = f"demo | head -n 1; ls {tmp_path}"
    done = run_in_shell(line, project, home, ["env", f"TMPDIR={tmp_path}", *get_cub_command()])
    assert done.out.splitlines()[1:] == sorted(path.name for path in (project, home))
    assert done.err == ""


# A line of the demo, after which the signal is sent.
POINTS = [
    ("shop-", signal.SIGINT, ()),
    ("  check before the attempt", signal.SIGINT, ()),
    pytest.param("1 commit:", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("A repository", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("Run ", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("  checks_failed", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("  ok", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("The prompt", signal.SIGINT, (), marks=pytest.mark.thorough),
    pytest.param("Run ", signal.SIGTERM, (), marks=pytest.mark.thorough),
    pytest.param("$ cub run", signal.SIGTERM, (), marks=pytest.mark.thorough),
    ("$ cub init", signal.SIGTERM, ("--sections",)),
    pytest.param("$ cub update", signal.SIGINT, ("--sections",), marks=pytest.mark.thorough),
]


# Sends the signal while the line is printed: from outside, it might come after the last line.
SIGNALLED = """
import io, os, sys
from cub.__main__ import main

class Stdout(io.TextIOWrapper):
    def write(self, text):
        count = super().write(text)
        if text.startswith(sys.orig_argv[4]):
            os.killpg(0, int(sys.orig_argv[5]))  # as a terminal does
        return count

sys.stdout = Stdout(sys.stdout.buffer, encoding="utf-8", write_through=True)
sys.argv[1:] = sys.argv[3:]
main()
"""


@pytest.mark.parametrize(("line", "number", "words"), POINTS)
def test_a_signal_ends_it_with_130_and_leaves_nothing(
    line: str, number: signal.Signals, words: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-u", "-c", SIGNALLED, line, str(int(number)), "demo", "-q", *words],
        cwd=tmp_path,
        env=environment(home) | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        shown, err = process.communicate()
    assert any(printed.startswith(line) for printed in shown.splitlines())
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "bug" not in err
    assert not list(tmp_path.glob("cub-*"))
    assert [path for path in home.rglob("*") if not path.is_dir()] == []
