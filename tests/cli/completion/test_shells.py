"""How each shell asks and is answered: in this process, and by the shells that are here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cub.cli.completion.answer import answer_shell
from cub.cli.completion.install import SHELL_SCRIPTS
from tests.cli.tasks import ALL, put
from tests.conftest import Cub, environment
from tests.fork_server import get_cub_command

STATUSES = "open\nin_progress\nretry\nparked\nclosed\nall\ndeleted\n"
TRICKS = {
    "id": "b-trick",
    "title": """It's "$(touch made)" `touch made` \\$(touch made) ; touch made & | > made :é""",
}


@pytest.fixture(autouse=True)
def _there(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project)
    put(project, *ALL, TRICKS)


def asked(shell: str, **environ: str) -> str:
    return answer_shell({"_CUB_COMPLETE": f"complete_{shell}", **environ})


@pytest.mark.parametrize(
    ("words", "at", "offered"),
    [
        ("cub task show b-c", "3", "b-clean\n"),
        # The script's words are a line each, as they were typed, quotes and all.
        ("cub\ntask\nshow\nb-c", "3", "b-clean\n"),
        ("cub\ntask\nshow\n", "3", "b-shop1.1\nb-shop1\nb-shop1.2\nb-trick\nb-clean\nb-flour\n"),
        ("cub\ntask\nadd\n'Two words'\n--type\nb", "5", "bug\n"),
        ('cub\ntask\nshow\n"b-c', "3", "b-clean\n"),
        # `=` is a word of its own to bash.
        ("cub\ntask\nlist\n--status\n=\n", "5", STATUSES),
        ("cub\ntask\nlist\n--status\n=\nop", "5", "open\n"),
        ("cub\ntask\nlist\n--status\n=", "4", STATUSES),
        ("cub\ntask\nshow\nb-c\n--json", "3", "b-clean\n"),
        ("cub\ntask\nimport\n", "3", ""),
        ("cub\ntask", "x", ""),
    ],
)  # fmt: skip
def test_bash_gives_words_and_gets_words(words: str, at: str, offered: str) -> None:
    assert asked("bash", COMP_WORDS=words, COMP_CWORD=at) == offered


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("cub task show b-c", "b-clean\tin_progress: Clean\n"),
        ("cub task list --status=p", "--status=parked\n"),
        ("cub task import ", ""),
        ("cub task show 'b-c", "b-clean\tin_progress: Clean\n"),
    ],
)
def test_fish_gets_a_word_and_its_meaning_on_a_line(line: str, shown: str) -> None:
    assert asked("fish", _TYPER_COMPLETE_ARGS=line) == shown


def test_zsh_gets_code_of_quoted_texts_alone() -> None:
    found = asked("zsh", _TYPER_COMPLETE_ARGS="cub task show b-c")
    assert found == (
        "local -a cub_words; cub_words=( 'b-clean:in_progress: Clean' ); "
        "_describe -V cub cub_words\n"
    )
    assert asked("zsh", _TYPER_COMPLETE_ARGS="cub task import ") == "_files\n"
    trick = asked("zsh", _TYPER_COMPLETE_ARGS="cub task show b-t")
    assert trick == (
        "local -a cub_words; cub_words=( 'b-trick:It'\\''s \"$(touch made)\" `touch made` "
        "\\$(touch made) ; touch made & | > made :é' ); _describe -V cub cub_words\n"
    )


@pytest.mark.parametrize("asks", ["complete_tcsh", "complete", "x_bash", "complete_", "source_sh"])
def test_whoever_else_asks_gets_nothing(asks: str) -> None:
    assert answer_shell({"_CUB_COMPLETE": asks, "COMP_WORDS": "cub t", "COMP_CWORD": "1"}) == ""
    assert answer_shell({"_CUB_COMPLETE": "complete_bash"}) == ""


@pytest.mark.parametrize("shell", SHELL_SCRIPTS)
def test_the_script_of_each_shell_is_shown(cub: Cub, shell: str) -> None:
    shown = cub("--show-completion", shell)
    assert (shown.code, shown.out, shown.err) == (0, SHELL_SCRIPTS[shell], "")
    assert f"complete_{shell}" in shown.out


def test_without_a_name_it_is_the_shell_that_cub_was_started_from(home: Path) -> None:
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("needs a bash")
    # Two commands, so that the shell stays in between.
    line = f"{sys.executable} -m cub --show-completion; exit $?"
    environ = {**environment(home), "SHELL": "/bin/zsh"}
    done = subprocess.run([shell, "-c", line], capture_output=True, env=environ, check=True)
    assert done.stdout.decode() == SHELL_SCRIPTS["bash"]


def test_an_unknown_shell_is_an_error(cub: Cub) -> None:
    for option in ("--show-completion", "--install-completion"):
        done = cub(option, "tcsh")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "error: no completion for 'tcsh'\nhint: choose from bash, zsh or fish\n"
        )


def run_shell(name: str, code: str, home: Path, project: Path, tmp_path: Path) -> str:
    """What a real shell prints that has loaded its script, with a `cub` on PATH."""
    shell = shutil.which(name)
    if shell is None:
        pytest.skip(f"needs a {name}")
    program = tmp_path / "bin" / "cub"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(get_cub_command())} "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "script"
    script.write_text(SHELL_SCRIPTS[name])
    environ = environment(home)
    path = f"{program.parent}{os.pathsep}{environ['PATH']}"
    done = subprocess.run(
        [shell, *(["--norc"] if name == "bash" else []), "-c", code.replace("SCRIPT", str(script))],
        cwd=project,
        env={**environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


BASH = """\
. SCRIPT
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cub_completion cub; printf '<%s>' "${COMPREPLY[@]}"; echo; }
ask cub task show b-t
ask cub task list --label ""
ask cub task import ""
complete -p cub
"""  # noqa: E501 - a line of a script


def test_a_real_bash_offers_words_that_it_can_type(
    home: Path, project: Path, tmp_path: Path
) -> None:
    put(project, {"id": "b-trick", "title": "x", "labels": ["hot oven", "*", "$(touch made)"]})
    before = sorted(project.rglob("*"))
    shown = run_shell("bash", BASH, home, project, tmp_path).splitlines()
    assert shown[:3] == ["<b-trick>", r"<hot\ oven><\*><\$\(touch\ made\)>", "<>"]
    assert "-F _cub_completion cub" in shown[3]
    assert sorted(project.rglob("*")) == before


FISH = "source SCRIPT; complete -C 'cub task show b-t'; complete -C 'cub task list --status=p'"


def test_a_real_fish_offers_words_with_what_they_mean(
    home: Path, project: Path, tmp_path: Path
) -> None:
    before = sorted(project.rglob("*"))
    shown = run_shell("fish", FISH, home, project, tmp_path).splitlines()
    assert shown == [f"b-trick\t{TRICKS['title']}", "--status=parked"]
    assert sorted(project.rglob("*")) == before


# What is typed and shown takes a terminal; what is evaluated does not.
ZSH = """\
compdef() { }
_describe() { print -rl -- "$@" "${cub_words[@]}"; }
_files() { print files; }
. SCRIPT
ask() { words=("$@"); CURRENT=$#; _cub_completion; }
ask cub task show b-t
ask cub task list --status ""
ask cub task import ""
# As the script that earlier installations have.
eval $(env _TYPER_COMPLETE_ARGS="cub task show b-t" _CUB_COMPLETE=complete_zsh cub)
"""


def test_a_real_zsh_evaluates_texts_and_runs_nothing_of_them(
    home: Path, project: Path, tmp_path: Path
) -> None:
    before = sorted(project.rglob("*"))
    shown = run_shell("zsh", ZSH, home, project, tmp_path).splitlines()
    head = ["-V", "cub", "cub_words"]
    statuses = ["open", "in_progress", "retry", "parked", "closed"]
    assert shown == [
        *head, f"b-trick:{TRICKS['title']}",
        *head, *statuses, "all:all but deleted ones", "deleted",
        "files",
        *head, f"b-trick:{TRICKS['title']}",
    ]  # fmt: skip
    assert sorted(project.rglob("*")) == before
