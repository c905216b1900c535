"""What is offered at each place of a command line, asked for as the shells do, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.core import TyperArgument, TyperOption

from cub.cli.app import COMMANDS
from cub.cli.completion.answer import answer_shell
from cub.cli.completion.candidates import find_value_source
from cub.cli.completion.value_sources import ARGUMENT_SOURCES, OPTION_SOURCES
from cub.store.store_paths import TASKS_FILE
from tests.cli.command_tree import walk_commands
from tests.cli.standing import stand
from tests.cli.tasks import ALL, put
from tests.conftest import environment

NATIVE = ("claude", "codex", "gemini", "opencode", "aider", "pi")
Ask = Callable[..., list[tuple[str, str]]]

CONFIG = """\
run: {harness: mine}
harnesses: {mine: {argv: [sh]}, other: {argv: [sh]}}
profiles: {fast: {run: {timeout: 1m}}}
"""
GONE = {"id": "b-gone1", "title": "Sell bred", "deleted_at": "2026-01-02T00:00:00.000Z"}


@pytest.fixture
def ask(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The words that fish is offered behind a line in `project`, with what they mean."""
    for name, value in environment(home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(project)

    def offered(line: str) -> list[tuple[str, str]]:
        asked = {"_CUB_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": line}
        found = answer_shell(asked).splitlines()
        return [(word, about) for word, _, about in (one.partition("\t") for one in found)]

    return offered


@pytest.fixture
def stocked(project: Path) -> Path:
    put(project, *ALL, GONE)
    (project / ".cub" / "config.yaml").write_text(CONFIG)
    (project / ".agents" / "tasks" / "more").mkdir(parents=True)
    for name in ("fix-bug", "more/review"):
        (project / ".agents" / "tasks" / f"{name}.md").touch()
    return project


def words(found: list[tuple[str, str]]) -> list[str]:
    return [word for word, _ in found]


OFFERED = {
    "cub re": ["repair", "remove"],
    "cub task cl": ["claim", "close"],
    "cub task st": ["stats"],
    "cub task dep ": ["add", "remove"],
    "cub run ": ["status", "logs", "show", "apply"],
    "cub nonsense ": [],
    "cub init --dr": ["--dry-run"],
    "cub init -- --dr": [],
    "cub --no": ["--no-color"],
    "cub --show-completion ": ["bash", "zsh", "fish"],
    "cub context ": ["fix-bug", "review"],
    "cub context --prompt x re": ["review"],
    # Ids: in the way in which they are typed, what is to be done first.
    "cub task show ": ["b-shop1.1", "b-shop1", "b-shop1.2", "b-clean", "b-flour"],
    "cub task show b-s": ["b-shop1.1", "b-shop1", "b-shop1.2"],
    "cub task show sh": ["shop1.1", "shop1", "shop1.2"],
    "cub task show zz": [],
    "cub task show b-clean ": [],
    "cub task close ": ["b-shop1.1", "b-shop1", "b-shop1.2", "b-clean"],
    "cub task done b-shop1.1 sh": ["shop1", "shop1.2"],
    "cub task close -m Why b-c": ["b-clean"],
    "cub task close -mWhy b-c": ["b-clean"],
    "cub task close --message=Why b-c": ["b-clean"],
    "cub task reopen ": ["b-clean", "b-flour", "b-gone1"],
    "cub task delete b-f": ["b-flour"],
    "cub task dep add b-clean sh": ["shop1.1", "shop1", "shop1.2"],
    "cub task dep remove b-shop1.2 ": ["b-shop1.1"],
    "cub prompt cl": ["clean"],
    "cub ledger show cl": ["clean"],
    "cub run --task cl": ["clean"],
    "cub task list --epic ": ["b-shop1"],
    "cub task list --epic=sh": ["--epic=shop1"],
    "cub task add X --parent ": ["b-shop1", "b-shop1.1", "b-shop1.2", "b-clean", "b-flour"],
    "cub task add X --depends-on b-clean,b-f": [],
    "cub task add X --depends-on b-clean,b-c": [],
    "cub task add X --depends-on b-clean,sh": [
        "b-clean,shop1.1", "b-clean,shop1", "b-clean,shop1.2",
    ],
    "cub task edit b-clean --label ": ["hot", "iron"],
    "cub task edit b-clean -l hot,": ["hot,iron"],
    "cub task add X --type ": ["task", "feature", "bug", "epic", "chore"],
    "cub task add X -t f": ["feature"],
    "cub task add X --priority ": ["0", "1", "2", "3", "4"],
    "cub task list --status p": ["parked"],
    "cub task list -s open -s ": [
        "open", "in_progress", "retry", "parked", "closed", "all", "deleted",
    ],
    "cub task close b-clean --reason ": ["done", "no_change", "wontfix", "duplicate"],
    "cub task export --format ": ["jsonl", "markdown"],
    "cub task import --format a": ["auto"],
    "cub update --edited ": ["refuse", "move", "replace"],
    "cub run --harness ": ["mine", "other", *NATIVE, "auto", "scripted"],
    "cub run --harness mine,ot": ["mine,other"],
    "cub run --profile ": ["fast"],
    "cub init --agent ": ["all", "claude", "codex", "gemini", "opencode", "aider", "pi"],
    "cub init --targets AGENTS.md,C": ["AGENTS.md,CLAUDE.md"],
    "cub config get run.b": ["run.branch", "run.budget.usd", "run.budget.tokens",
                             "run.budget.iterations"],
    "cub config set harnesses.m": [
        "harnesses.mine.argv", "harnesses.mine.prompt", "harnesses.mine.success",
        "harnesses.mine.env", "harnesses.mine.acp", "harnesses.mine.modes",
        "harnesses.mine.args", "harnesses.mine.model",
        "harnesses.mine.user_settings",
    ],
    "cub config set run.commit ": ["true", "false"],
    "cub config set placement ": ["bottom", "top"],
    "cub config set harnesses.mine.prompt a": ["arg"],
    "cub config set run.harness m": ["mine"],
    "cub config set run.timeout ": ["30m"],
    "cub config set run.model ": [],
    # Files are the shell's.
    "cub task import ": [],
    "cub task add ": [],
    'cub task add "The oven" --type b': ["bug"],
    'cub task add "The oven --type b': [],
}  # fmt: skip


@pytest.mark.parametrize("line", OFFERED)
def test_what_may_come_next_is_offered(ask: Ask, stocked: Path, line: str) -> None:
    before = stand(stocked)
    assert words(ask(line)) == OFFERED[line]
    assert stand(stocked) == before


@pytest.mark.usefixtures("stocked")
def test_words_come_with_what_they_mean(ask: Ask) -> None:
    assert ask("cub task show b-shop1.1")[0] == ("b-shop1.1", "Heat the oven")
    assert ask("cub task show b-c") == [("b-clean", "in_progress: Clean")]
    assert ask("cub task reopen b-g") == [("b-gone1", "deleted: Sell bred")]
    assert ask("cub task list --label h") == [("hot", "1 task")]
    assert ask("cub init --dry") == [
        ("--dry-run", "Show what would change, without writing anything.")
    ]
    assert ask("cub task rea") == [("ready", "List ready tasks, the next one first.")]
    assert ask("cub config set run.mo") == [("run.model", "The model that the agent uses.")]


def test_all_commands_are_offered_and_hidden_ones_are_not(ask: Ask) -> None:
    assert words(ask("cub ")) == list(COMMANDS)
    assert "start" not in words(ask("cub task "))


def test_another_folder_is_looked_at_if_the_line_says_so(
    ask: Ask, stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ask("cub task show b-c") == []
    for line in ("cub -C project task show b-c", f"cub -C{stocked} task show b-c"):
        assert words(ask(line)) == ["b-clean"]
    (stocked / "src").mkdir()
    monkeypatch.chdir(stocked / "src")
    assert words(ask("cub task show b-c")) == ["b-clean"]


DAMAGED = {
    "no file": None,
    "junk": b"\xff\xfe junk\n{\n",
    "torn": b'{"id":"b-clean","title":"Cl',
    "null": b"\0\0\0",
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("line", ["cub task show ", "cub run --harness ", "cub task list -l "])
def test_damage_is_no_word_and_no_message(
    ask: Ask,
    project: Path,
    data: bytes | None,
    line: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (project / ".cub").mkdir()
    for name in (TASKS_FILE, ".cub/config.yaml", ".cub/ledger.jsonl"):
        if data is not None:
            (project / name).write_bytes(data)
    before = stand(project)
    assert words(ask(line)) == ([*NATIVE, "auto", "scripted"] if "harness" in line else [])
    assert (stand(project), capfd.readouterr()) == (before, ("", ""))


def test_the_rest_of_a_damaged_store_is_offered(ask: Ask, stocked: Path) -> None:
    with (stocked / TASKS_FILE).open("ab") as file:
        file.write(b'junk\n{"id":"b-clean","title":"Clean","status":"open"}\n{"id":')
    (stocked / ".cub/config.yaml").write_text("run: [")
    assert words(ask("cub task show b-c")) == ["b-clean"]


def test_where_there_is_no_folder_there_is_no_word(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ask("cub task show ") == []
    assert words(ask("cub task li")) == ["list"]


def test_the_tasks_that_beads_keeps_are_not_asked_for(ask: Ask, stocked: Path) -> None:
    (stocked / ".cub/config.yaml").write_text("tasks: {backend: beads}\n")
    assert ask("cub task show ") == []


def test_titles_can_not_play_tricks(ask: Ask, project: Path) -> None:
    put(
        project,
        {"id": "a", "title": "One\x1b[31m\n two\u202e three " + "x" * 100},
        {"id": "b\x1b", "title": "Not to be typed"},
    )
    ((word, about),) = ask("cub task show ")
    assert word == "a"
    assert about.startswith("One [31m two three x")
    assert (len(about), about[-1]) == (80, "…")


def test_a_large_store_is_read_and_five_hundred_tasks_are_shown(ask: Ask, project: Path) -> None:
    made = {"issue_type": "task", "description": "x" * 300, "status": "closed"}
    lines = [
        json.dumps({"id": f"b-{n:05}", **made, "title": "Done"}, separators=(",", ":"))
        for n in range(6_000)
    ]
    open_ = json.dumps({"id": "b-05000", **made, "status": "open"}, separators=(",", ":"))
    put(project, *lines[:5000], open_, *lines[5001:])
    assert (project / TASKS_FILE).stat().st_size > 2 << 20
    assert words(ask("cub task show "))[:2] == ["b-05000", "b-00000"]
    assert words(ask("cub task show b-05999")) == ["b-05999"]
    assert len(ask("cub task show ")) == 500
    assert words(ask("cub task show b-0599")) == [f"b-0599{n}" for n in range(10)]
    assert words(ask("cub task close ")) == ["b-05000"]


# What a person makes up, or the shell knows: files and folders.
FREE = {
    "--accept", "--allow", "--append-system-prompt", "--append-system-prompt-file", "--apply",
    "--as", "--attempt", "--before", "--branch", "--budget-tokens", "--budget-usd", "--check",
    "--deny", "--description", "--exclude", "--exec", "--exec-timeout", "--explain", "--file",
    "--idle-timeout", "--ignore", "--jobs", "--limit", "--lines", "--max-budget-usd",
    "--max-iterations", "--max-output", "--max-turns", "--mcp-config", "--message", "--model",
    "--note",
    "--output", "--path",
    "--prompt", "--prompt-file", "--search", "--select", "--timeout",
    "--title", "--tokens", "-C", "-p", "-s",
}  # fmt: skip


def test_each_option_is_known_to_have_words_or_none() -> None:
    """So that a new one is thought of."""
    for one in (p for _, context in walk_commands() for p in context.command.get_params(context)):
        assert isinstance(one, TyperArgument | TyperOption)
        if isinstance(one, TyperArgument):
            if (one.metavar or "").startswith(("ID", "KEY", "VALUE", "OTHER")):
                assert find_value_source(one), one.metavar
        elif not one.is_flag and not one.type_descriptor.is_choice:
            hint = "which words may be its value? See OPTIONS; if any, put it into FREE"
            assert find_value_source(one) or FREE & {*one.opts}, f"{one.opts}: {hint}"
    assert not FREE & OPTION_SOURCES.keys()
    assert {"ID", "KEY"} <= ARGUMENT_SOURCES.keys()
