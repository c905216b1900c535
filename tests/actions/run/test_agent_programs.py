"""Programs of clients that are not there: found before anything is begun, and named."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from cub.actions.command_options import RunOptions
from cub.actions.run.agent_programs import RunAgents, read_agent_versions
from cub.actions.run.place_choice import is_in_place
from cub.actions.run.run_options import RunSettings, resolve_settings
from cub.actions.tasks.stores import open_stores
from cub.cli.commands.run.run_preview import preview_run
from cub.errors import CubError
from cub.harness.base import Harness
from cub.harness.claude import ClaudeHarness
from cub.harness.codex import CodexHarness
from cub.harness.custom_harness import make_custom_harness
from cub.harness.gemini import GeminiHarness
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.store.events import Event
from tests.actions.helpers import put_programs
from tests.actions.run.shop import Shop

_MAKE = 'cat > /dev/null; echo x > "made-$CUB_TASK"'
_SH = ["/bin/sh", "-c", _MAKE]
_GONE = {"argv": ["no-such-agent", "--yes"]}


def _clients(shop: Shop, run: dict[str, Any] | None = None, **clients: Any) -> None:
    shop.configure(harnesses=clients, run=run or {})
    shop.task()


def _refused(shop: Shop, **asked: Any) -> CubError:
    """Why a run is refused; nothing is begun by it."""
    with pytest.raises(CubError) as refused:
        shop.run(**asked)
    assert shop.ledger() == []
    assert not (shop.cub / "runs").exists()
    assert shop.status() == "open"
    return refused.value


def test_a_client_that_is_not_installed_is_refused_with_what_to_do(bakery: Shop) -> None:
    _clients(bakery, mine=_GONE)
    refused = _refused(bakery)
    assert refused.message == "the agent mine can't be started: no-such-agent is not in PATH"
    assert refused.where == ".cub/config.yaml: harnesses.mine.argv"
    assert refused.hint.startswith("install it, add its directory to PATH, or choose another agent")
    assert refused.exit_code == 1


@pytest.mark.parametrize(
    ("harness", "where"),
    [("mine", ".cub/config.yaml: harnesses.mine.acp"), ("acp:no-such-agent", "")],
)
def test_a_missing_agent_of_the_protocol_is_named_by_its_key(
    bakery: Shop, harness: str, where: str
) -> None:
    _clients(bakery, mine={"acp": ["no-such-agent", "--acp"]})
    refused = _refused(bakery, harness=harness)
    assert refused.message.endswith("can't be started: no-such-agent is not in PATH")
    assert refused.where == where


def test_one_of_several_that_is_missing_is_told_and_left_out(bakery: Shop) -> None:
    _clients(bakery, gone=_GONE, mine={"argv": _SH})
    bakery.task("s-2")
    done = bakery.run(harness="gone,mine")
    assert done.outcomes == ["ok", "ok"]
    assert done.of("run_start")[0]["harness"] == "mine"
    told = "the agent gone is left out: no-such-agent is not in PATH (harnesses.gone.argv)"
    assert told in done.notices
    assert done.events[0]["ev"] == "notice"


def test_of_several_that_are_all_missing_each_is_named(bakery: Shop) -> None:
    _clients(bakery, gone=_GONE, far={"argv": ["./far.sh"]})
    refused = _refused(bakery, harness="auto")
    assert refused.message == "none of the agents can be started"
    assert [*refused.details] == [
        "gone: no-such-agent is not in PATH (harnesses.gone.argv)",
        "far: ./far.sh is not there (harnesses.far.argv)",
    ]


@pytest.mark.parametrize(
    ("argv", "why", "hint"),
    [
        (["/no/such/program"], "/no/such/program is not there", "install it"),
        (["~/bin/agent"], "~/bin/agent is not there", "no shell replaces `~`"),
        (["./kept.txt"], "kept.txt is not executable", "`chmod +x "),
        (["."], ". is not in PATH", "install it"),
    ],
)
def test_why_a_program_can_not_be_started(
    bakery: Shop, argv: list[str], why: str, hint: str
) -> None:
    _clients(bakery, mine={"argv": argv})
    refused = _refused(bakery)
    assert refused.message.endswith(why)
    assert hint in refused.hint


def test_a_wrapper_that_is_missing_is_named_by_its_key(bakery: Shop) -> None:
    _clients(bakery, {"wrap": ["no-such-sandbox", "--"]}, mine={"argv": _SH})
    refused = _refused(bakery)
    assert "no-such-sandbox is not in PATH" in refused.message
    assert refused.where == ".cub/config.yaml: run.wrap"


def test_behind_a_wrapper_that_changes_nothing_the_client_is_looked_for(bakery: Shop) -> None:
    _clients(bakery, {"wrap": ["nice", "-n", "1"]}, mine=_GONE)
    assert "no-such-agent is not in PATH" in _refused(bakery).message


def test_what_a_wrapper_or_a_shell_starts_is_not_known_before(bakery: Shop) -> None:
    inside = 'test "$1" = no-such-agent && echo x > made'
    _clients(bakery, {"wrap": ["/bin/sh", "-c", inside, "sandbox"]}, mine=_GONE)
    assert bakery.run(once=True).outcomes == ["ok"]
    bakery.configure(harnesses={"mine": {"argv": ["sh", "-c", "no-such-agent"]}}, run={})
    bakery.task("s-2")
    assert bakery.run(once=True).outcomes == ["harness_missing"]


def test_the_path_is_the_one_that_the_client_gets(bakery: Shop, tmp_path: Path) -> None:
    folder = put_programs(tmp_path / "bin", "agent", script="echo x > made")
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    _clients(bakery, mine={"argv": ["agent"], "env": path}, bare={"argv": ["agent"]})
    assert "agent is not in PATH" in _refused(bakery, harness="bare").message
    assert bakery.run(once=True).outcomes == ["ok"]


def test_a_program_of_the_project_is_looked_for_where_the_client_works(bakery: Shop) -> None:
    bakery.write("agent.sh", "#!/bin/sh\necho x > made\n").chmod(0o755)
    _clients(bakery, mine={"argv": ["./agent.sh"]})
    refused = _refused(bakery)
    assert "./agent.sh is not in the last commit, so attempts do not" in refused.message
    bakery.commit("an agent")
    assert bakery.run(once=True).outcomes == ["ok"]


@pytest.mark.parametrize(
    ("ignored", "is_there"), [("node_modules", True), (".env", True), ("build", False)]
)
def test_a_program_that_git_ignores_is_one_that_the_place_has(
    bakery: Shop, ignored: str, is_there: bool
) -> None:
    bakery.write(".gitignore", f"{ignored}\n")
    bakery.write(".worktreeinclude", ".env\n")
    bakery.commit()
    name = ignored if ignored == ".env" else f"{ignored}/.bin/agent"
    bakery.write(name, "").chmod(0o755)
    settings = resolve_settings(resolve_config(Project.load(bakery.root), {}).values, RunOptions())
    assert is_in_place(bakery.root, f"./{name}", settings) is is_there


def test_a_program_whose_name_has_a_placeholder_is_known_with_its_attempt(bakery: Shop) -> None:
    _clients(bakery, mine={"argv": ["no-such-{task}"]})
    assert bakery.run(once=True).outcomes == ["harness_missing"]


def _previewed(shop: Shop, harness: str, *, json: bool = False) -> int:
    stores = open_stores(Project.load(shop.root), "cub run")
    options = RunOptions(harness=harness, trust=True, no_checks=True)
    return preview_run(stores, options, json=json)


def _read_preview(shop: Shop, harness: str, capsys: pytest.CaptureFixture[str]) -> Event:
    """What a dry run prints as JSON."""
    _previewed(shop, harness, json=True)
    found: Event = json.loads(capsys.readouterr().out)
    return found


def test_a_dry_run_tells_who_is_missing(bakery: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    _clients(bakery, gone=_GONE, mine={"argv": _SH})
    assert _previewed(bakery, "gone,mine") == 0
    shown = capsys.readouterr()
    assert "agent: gone, mine\n" in shown.out
    assert "the agent gone is left out: no-such-agent is not in PATH" in shown.err
    assert "would be refused" not in shown.err
    assert _previewed(bakery, "gone") == 1
    refused = "the agent gone can't be started: no-such-agent is not in PATH"
    said = f"This run would be refused: {refused} (hint: install it"
    assert said in capsys.readouterr().err
    missing = _read_preview(bakery, "gone,mine", capsys)["missing"]
    assert missing == [{"harness": "gone", "why": "no-such-agent is not in PATH"}]


OTHER = make_custom_harness("mine", {"argv": ["mine"]})


def settings(root: Path, usd: float | None = None) -> RunSettings:
    layers = resolve_config(Project.load(root), {}, None)
    return resolve_settings(layers.values, RunOptions(usd=usd))


def warn(
    root: Path, harnesses: list[Harness], versions: dict[str, str], usd: float | None = None
) -> list[str]:
    project = Project.load(root)
    return RunAgents(harnesses, settings(root, usd), project, {}).list_warnings(versions)


def test_a_version_is_what_the_program_prints(bakery: Shop) -> None:
    bakery.install_program("claude", "echo '2.1.330 (Claude Code)'")
    bakery.install_program("codex", "echo nothing")
    harnesses: list[Harness] = [ClaudeHarness(), CodexHarness(), OTHER]
    versions = read_agent_versions(harnesses, Project.load(bakery.root), bakery.environ)
    assert versions == {"claude": "2.1.330"}


def test_a_version_is_asked_for_with_what_makes_the_agent_start_faster(bakery: Shop) -> None:
    bakery.install_program("gemini", "test $GEMINI_CLI_NO_RELAUNCH && echo 0.61.0")
    versions = read_agent_versions([GeminiHarness()], Project.load(bakery.root), bakery.environ)
    assert versions == {"gemini": "0.61.0"}


@pytest.mark.parametrize(("version", "count"), [("2.1.196", 1), ("2.1.197", 0), ("2.10.0", 0)])
def test_an_old_version_is_warned_of(tmp_path: Path, version: str, count: int) -> None:
    found = warn(tmp_path, [ClaudeHarness(), OTHER], {"claude": version})
    assert len(found) == count


def test_a_budget_in_dollars_needs_an_agent_that_reports_them(tmp_path: Path) -> None:
    (warning,) = warn(tmp_path, [ClaudeHarness(), CodexHarness(), OTHER], {}, usd=5.0)
    assert warning.startswith("Codex reports no cost")
    assert "--budget-tokens" in warning


def test_a_file_that_an_agent_reads_in_part_is_named_once_before_a_run(
    bakery: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    message = '{"type": "item.completed", "item": {"type": "agent_message", "text": "I fail."}}'
    bakery.install_program(
        "codex",
        f"test \"$1\" = --version && echo codex-cli 0.169.0; echo '{message}'; exit 1",
    )
    bakery.write("AGENTS.md", "Bake before six in the morning.\n" * 1_100)
    bakery.commit()
    bakery.task()
    text = "Codex does not read AGENTS.md to its end"
    assert text in "".join(_read_preview(bakery, "codex", capsys)["notices"])
    done = bakery.run(harness="codex", iterations=2)
    assert len(done.outcomes) == 2
    assert done.notices.count(text) == 1


def test_a_run_names_the_agent_that_it_chose(bakery: Shop) -> None:
    bakery.install_program("codex", 'test "$1" = --version && echo codex-cli 0.1.0; exit 1')
    bakery.task()
    done = bakery.run(harness="auto", once=True)
    (start,) = done.of("run_start")
    assert (start["harness"], start["versions"]) == ("codex", {"codex": "0.1.0"})
    assert start["choice"].startswith("the first one installed")
    assert "Codex 0.1.0 is older than" in done.notices


@pytest.fixture
def builtin(bakery: Shop, home: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A repository with a task, for the built-in agent; no key is set."""
    monkeypatch.setenv("HOME", str(home))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        bakery.environ.pop(name, None)
    bakery.task()
    return bakery


def test_the_model_that_the_key_decides_is_shown_before_a_run(
    builtin: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert _previewed(builtin, "builtin") == 0
    assert "model: gpt-6-sol (OPENAI_API_KEY is set)\n" in capsys.readouterr().out
    shown = _read_preview(builtin, "builtin", capsys)
    assert shown["model_choice"] == "gpt-6-sol (OPENAI_API_KEY is set)"
    builtin.configure(code={"model": "gpt-5"})
    assert _read_preview(builtin, "builtin", capsys)["model_choice"] == ""


def test_a_dry_run_names_the_keys_to_set(builtin: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert _previewed(builtin, "builtin") == 1
    said = capsys.readouterr().err
    assert "missing API key (hint: set ANTHROPIC_API_KEY, OPENAI_API_KEY, or GEMINI_API" in said
    assert "`--model ollama/NAME`" in said


def test_a_model_server_that_is_gone_is_found_before_a_run(
    builtin: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # it does not listen, so connections are refused
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        builtin.configure(code={"model": "ollama/qwen3", "base_url": address})
        reason = f"can't reach the model server at {address}"
        refused = _refused(builtin, harness="builtin")
        assert refused.message == f"the agent builtin can't be started: {reason}"
        assert "`ollama serve`" in refused.hint
        assert _previewed(builtin, "builtin") == 1
        assert reason in capsys.readouterr().err


def test_no_server_is_asked_for_an_untrusted_project(builtin: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        builtin.configure(code={"model": "ollama/qwen3", "base_url": address})
        stores = open_stores(Project.load(builtin.root), "cub run")
        assert preview_run(stores, RunOptions(harness="builtin", no_checks=True), json=True) == 1
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
