"""What a repository brings along runs only if the person agreed to it, as it is now."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cub.actions.run.command_trust import (
    ApprovedChecks,
    read_executables,
    trust_checks,
    trust_project,
)
from cub.actions.tasks.task_edits import edit_task
from cub.actions.tasks.task_fields import TaskFields
from cub.errors import CubError
from cub.project.trust_store import load_trust, save_trust
from cub.store.events import Event
from tests.actions.run.shop import Shop
from tests.attempts import enter_attempt
from tests.conftest import Cub, git
from tests.examples import keep_few

_MAKE = 'cat > /dev/null; echo x > "made-$CUB_TASK"'
_SCRIPT = {"files": {"made": "x"}}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is kept: not where this person's own is."""
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def stall(bakery: Shop, state: Path) -> Shop:
    """A client and checks of the configuration, and a task with a check of its own."""
    assert not state.exists()
    bakery.client(_MAKE)
    bakery.configure(run={"checks": ["test -f kept.txt"]})
    bakery.task(checks=["test -f made-s-1"])
    return bakery


@pytest.fixture
def trusted(stall: Shop) -> Shop:
    """The same, and the person has agreed to all of it."""
    trust_project(stall.stores, {})
    return stall


def _refused(shop: Shop, **asked: Any) -> Sequence[str]:
    """What a run shows of what is not agreed to; it must not have begun."""
    before = shop.ledger()
    with pytest.raises(CubError) as refused:
        shop.run(trust=False, **asked)
    assert "cub trust" in refused.value.hint
    assert "--trust" in refused.value.hint
    assert shop.ledger() == before
    return refused.value.details


def _runs(shop: Shop, **asked: Any) -> list[str]:
    return shop.run(trust=False, once=True, **asked).outcomes


def test_what_nobody_agreed_to_is_shown_and_does_not_run(stall: Shop) -> None:
    stall.client("touch ../ran")
    stall.configure(run={"checks": ["touch ../ran"]})
    shown = _refused(stall)
    assert list(shown) == [
        'run.checks: ["touch ../ran"]',
        'harnesses.mine: {"argv": ["/bin/sh", "-c", "touch ../ran"]}',
        "a task's check: test -f made-s-1",
    ]
    assert not (stall.root.parent / "ran").exists()
    assert not (stall.cub / "runs").exists()


def _says(shop: Shop) -> str:
    with pytest.raises(CubError) as refused:
        shop.run(trust=False)
    return refused.value.message


def test_what_nobody_agreed_to_has_not_changed(stall: Shop) -> None:
    assert _says(stall) == "the commands of this project are not trusted"
    trust_checks(stall.stores, ["test -f made-s-1"])  # as `cub task add --check` does
    assert _says(stall) == "the commands of this project are not trusted"


def test_what_changed_since_it_was_agreed_to_is_said_to_have_changed(trusted: Shop) -> None:
    trusted.configure(run={"checks": ["true"]})
    assert _says(trusted) == "the commands of this project changed since you trusted them"
    save_trust(trusted.root, None)
    assert _says(trusted) == "the commands of this project are not trusted"


def test_a_new_check_of_a_task_is_not_trusted_yet_and_nothing_else_changed(trusted: Shop) -> None:
    trusted.task("s-2", checks=["test -f made-s-2"])
    assert _says(trusted) == "a task has an untrusted check"
    trusted.task("s-3", checks=["test -f made-s-3"])
    assert _says(trusted) == "tasks have 2 untrusted checks"


def test_what_was_agreed_to_runs(stall: Shop) -> None:
    found = trust_project(stall.stores, {})
    config = [one.facts["key"] for one in found if one.section == "config"]
    assert config == ["run.checks", "harnesses.mine"]
    assert _runs(stall) == ["ok"]


def test_it_is_of_this_project_alone(trusted: Shop, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other", trusted.environ)
    other.root.mkdir()
    git(other.root, "init", "-q")
    other.write(".cub/config.yaml", (trusted.cub / "config.yaml").read_bytes())
    other.task()
    assert _refused(other)


def test_taken_back_it_does_not_run(trusted: Shop) -> None:
    save_trust(trusted.root, None)
    assert len(_refused(trusted)) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"checks": ["test -f kept.txt "]},
        {"checks": ["test -f kept.txt"], "notify": "touch ../ran"},
        {"checks": ["test -f kept.txt"], "wrap": ["env"]},
        {"checks": ["test -f kept.txt"], "permissions": "bypass"},
        {"checks": ["test -f kept.txt"], "harness": "mine"},
        {"checks": []},
    ],
)
def test_any_change_of_what_runs_asks_again(trusted: Shop, change: dict[str, Any]) -> None:
    trusted.configure(run=change)
    with pytest.raises(CubError, match="changed since"):
        trusted.run(trust=False)


def test_another_client_or_another_argument_asks_again(stall: Shop) -> None:
    trust_project(stall.stores, {})
    stall.client(f"{_MAKE}; true")
    assert any(line.startswith("harnesses.mine") for line in _refused(stall))
    trust_project(stall.stores, {})
    stall.client("true", "another")
    assert any(line.startswith("harnesses.another") for line in _refused(stall))


def test_what_does_not_run_changes_nothing(trusted: Shop) -> None:
    trusted.configure(run={"checks": ["test -f kept.txt"], "max_attempts": 7}, map={"tokens": 9})
    assert _runs(trusted) == ["ok"]


def test_a_profile_is_a_part_of_it(trusted: Shop) -> None:
    trusted.configure(profiles={"night": {"run": {"checks": ["touch ../ran"]}}})
    shown = _refused(trusted)
    assert 'profiles.night.run.checks: ["touch ../ran"]' in shown


def test_checks_of_tasks_are_agreed_to_one_by_one(trusted: Shop) -> None:
    trusted.task("s-2", checks=["test -f made-s-2", "test -f made-s-1"])
    assert list(_refused(trusted)) == ["a task's check: test -f made-s-2"]
    trusted.task("s-3", status="closed", checks=["touch ../ran"])
    assert list(_refused(trusted)) == ["a task's check: test -f made-s-2"]


@pytest.mark.parametrize(
    "spelled",
    [
        r'"\u0063hecks": ["touch ../ran"]',
        r'"\u0063\u0068\u0065\u0063\u006b\u0073": ["touch ../ran"]',
        r'"check\u0073" : "touch ../ran"',
        '"checks": [], "checks": ["touch ../ran"]',
        '"priority": "P1", "checks": "touch ../ran"',
    ],
)
def test_a_check_is_one_however_json_spells_it(
    bakery: Shop, state: Path, tmp_path: Path, spelled: str
) -> None:
    bakery.script({"s-1": [_SCRIPT]})
    line = f'{{"id": "s-1", "title": "a", "status": "open", {spelled}}}\n'
    bakery.write(".cub/tasks.jsonl", line)
    assert list(_refused(bakery, harness="scripted")) == ["a task's check: touch ../ran"]
    found = read_executables(bakery.stores, {})
    assert [one.content for one in found if one.section == "checks"] == ["touch ../ran"]
    assert not (tmp_path / "ran").exists()
    assert not state.exists()


@pytest.mark.parametrize("value", ["0", "false", "{}", "7.5", '{"a": ["b"]}'])
def test_a_check_that_is_no_text_runs_as_one_and_is_asked_about(
    bakery: Shop, state: Path, value: str
) -> None:
    bakery.script({"s-1": [_SCRIPT]})
    bakery.write(".cub/tasks.jsonl", f'{{"id": "s-1", "title": "a", "checks": {value}}}\n')
    assert len(_refused(bakery, harness="scripted")) == 1
    assert not state.exists()


def test_a_check_of_one_of_two_lines_of_a_task_is_asked_about(bakery: Shop, state: Path) -> None:
    bakery.script({"s-1": [_SCRIPT]})
    bakery.task(rev=1)
    bakery.write(
        ".cub/tasks.jsonl",
        (bakery.cub / "tasks.jsonl").read_text()
        + r'{"id": "s-1", "rev": 2, "title": "a", "status": "open", '
        + r'"created_at": "2026-01-01T08:00:00.000Z", "\u0063hecks": ["touch ../ran"]}'
        + "\n",
    )
    assert list(_refused(bakery, harness="scripted")) == ["a task's check: touch ../ran"]
    assert not state.exists()


@pytest.mark.thorough
def test_a_branch_that_the_run_commits_to_brings_no_checks_along(bakery: Shop, state: Path) -> None:
    """What was looked at is another file then."""
    bakery.script({"*": [_SCRIPT]})
    bakery.configure(run={"branch": "other"})
    bakery.task("s-1")
    bakery.commit("here")
    git(bakery.root, "switch", "-qc", "other")
    bakery.task("s-2", checks=["touch ../ran"])
    bakery.write(
        ".cub/tasks.jsonl",
        (bakery.cub / "tasks.jsonl")
        .read_text()
        .replace('"Do s-1"', '"Do s-1", "checks": ["touch ../ran"]'),
    )
    bakery.commit("there")
    git(bakery.root, "switch", "-q", "-")
    bakery.run(trust=False, harness="scripted")
    assert git(bakery.root, "branch", "--show-current") == "main\n"
    assert not (bakery.root.parent / "ran").exists()
    assert not [*state.rglob("trust.json")]


def test_a_check_that_is_spelled_oddly_and_comes_meanwhile_does_not_run(stall: Shop) -> None:
    line = r'{"id": "s-2", "title": "Two", "status": "open", "\u0063hecks": ["touch ../ran"]}'
    stall.write("line", line + "\n")
    stall.commit("line")
    stall.client(f"{_MAKE}; test $CUB_TASK = s-2 || cat line >> .cub/tasks.jsonl")
    trust_project(stall.stores, {})
    stall.run(trust=False)
    assert not (stall.root.parent / "ran").exists()


def test_a_check_that_comes_while_the_run_is_under_way_does_not_run(stall: Shop) -> None:
    """By hand, by a merge, or by the agent itself: nobody has seen it."""
    trust_project(stall.stores, {})
    line = '{"id": "s-2", "title": "Two", "status": "open", "checks": ["touch ../ran"]}'
    stall.client(f"{_MAKE}; test $CUB_TASK = s-2 || echo '{line}' >> .cub/tasks.jsonl")
    trust_project(stall.stores, {})
    stall.run(trust=False)
    assert not (stall.root.parent / "ran").exists()


@pytest.mark.thorough
def test_a_check_that_the_agent_gives_its_own_task_does_not_run(stall: Shop) -> None:
    stall.client(f"{_MAKE}; sed -i 's/test -f made-s-1/touch ..\\/ran/' .cub/tasks.jsonl; exit 1")
    trust_project(stall.stores, {})
    stall.run(trust=False)
    assert not (stall.root.parent / "ran").exists()


def test_a_check_of_the_command_line_is_the_persons_own(stall: Shop) -> None:
    (stall.cub / "tasks.jsonl").unlink()
    stall.task()
    stall.write(".cub/config.yaml", '{"run": {"checks": ["touch ../ran"]}}')
    stall.script({"s-1": [_SCRIPT]})
    assert list(_refused(stall, harness="scripted")) == ['run.checks: ["touch ../ran"]']
    assert _runs(stall, harness="scripted", check="true") == ["ok"]
    assert not (stall.root.parent / "ran").exists()


def test_an_agent_that_is_called_as_a_key_has_to_be_agreed_to(stall: Shop) -> None:
    agent = '{"argv": ["touch", "../ran"]}'
    stall.write(".cub/config.yaml", f'{{"harnesses": {{"run.checks": {agent}}}}}')
    shown = _refused(stall, harness="run.checks", check="true", no_checks=False)
    assert "harnesses.run.checks" in shown[0]


def test_without_checks_none_has_to_be_agreed_to(stall: Shop) -> None:
    stall.write(".cub/config.yaml", '{"run": {"checks": ["touch ../ran"]}}')
    stall.script({"s-1": [_SCRIPT]})
    assert _runs(stall, harness="scripted", no_checks=True) == ["ok"]
    assert not (stall.root.parent / "ran").exists()


def test_without_checks_the_client_has_to_be_agreed_to_all_the_same(stall: Shop) -> None:
    (shown,) = _refused(stall, no_checks=True)
    assert shown.startswith("harnesses.mine: ")


def test_nothing_that_runs_needs_nobodys_word(bakery: Shop, state: Path) -> None:
    bakery.task()
    bakery.script({"s-1": [_SCRIPT]})
    assert _runs(bakery, harness="scripted") == ["ok"]
    assert not [*state.rglob("trust.json")]


def test_to_agree_on_the_command_line_is_for_once(stall: Shop, state: Path) -> None:
    assert stall.run(trust=True, once=True).outcomes == ["ok"]
    assert not [*state.rglob("trust.json")]
    stall.task("s-2")
    assert _refused(stall)


def test_a_check_that_a_person_adds_is_agreed_to(trusted: Shop, cub: Cub, state: Path) -> None:
    added = cub("task", "add", "More", "--check", "test -f kept.txt", XDG_STATE_HOME=str(state))
    assert added.code == 0
    edited = cub("task", "edit", "s-1", "--check", "test -e kept.txt", XDG_STATE_HOME=str(state))
    assert edited.code == 0
    assert _runs(trusted) == ["ok"]


def test_a_check_that_is_added_in_an_attempt_is_not(trusted: Shop, cub: Cub, state: Path) -> None:
    mailbox = enter_attempt(trusted.root, "s-1")
    inside = {"XDG_STATE_HOME": str(state), "CUB_ROOT": str(trusted.root)}
    assert cub("task", "add", "More", "--check", "touch ../ran", **inside).code == 0
    shutil.rmtree(mailbox)
    assert list(_refused(trusted)) == ["a task's check: touch ../ran"]


def test_an_agent_can_not_agree_for_the_person(stall: Shop, cub: Cub, state: Path) -> None:
    mailbox = enter_attempt(stall.root, "s-1")
    done = cub("trust", XDG_STATE_HOME=str(state))
    assert (done.code, done.err) == (1, "error: commands cannot be trusted inside an attempt\n")
    shutil.rmtree(mailbox)
    assert not [path for path in state.rglob("*") if path.is_file()]
    assert _refused(stall)


@pytest.mark.parametrize(
    "data", keep_few(["", "{", "[]", '{"projects": 7}', '{"projects": {"%s": 7}}'], 3)
)
def test_a_damaged_memory_asks_again(stall: Shop, state: Path, data: str) -> None:
    trust_project(stall.stores, {})
    (file,) = state.rglob("trust.json")
    file.write_text(data.replace("%s", str(stall.root)))
    assert len(_refused(stall)) == 3
    trust_project(stall.stores, {})
    assert _runs(stall) == ["ok"]


def test_an_agent_that_changes_the_configuration_is_asked_about_next_time(stall: Shop) -> None:
    stall.client(f"{_MAKE}; sed -i 's/test -f kept.txt/touch ..\\/ran/' .cub/config.yaml")
    trust_project(stall.stores, {})
    stall.task("s-2")
    stall.commit("stall")
    stall.run(trust=False)
    assert not (stall.root.parent / "ran").exists()
    stall.task("s-3")
    assert any("touch ../ran" in line for line in _refused(stall))


def test_a_check_that_a_person_gives_a_waiting_task_counts_when_it_is_begun(stall: Shop) -> None:
    stall.task("s-2", checks=["test -f made-s-2"])
    trust_project(stall.stores, {})

    def each(event: Event) -> None:
        if event["ev"] == "attempt_start" and event["task"] == "s-1":
            edit_task(stall.stores, "s-2", TaskFields(checks=["test -f other"]))
            trust_checks(stall.stores, ["test -f other"])

    done = stall.run(trust=False, each=each, iterations=2)
    assert done.outcomes == ["ok", "checks_failed"]
    assert stall.record("s-2")["checks"] == ["test -f other"]


@pytest.mark.parametrize("checks", [["true"], []])
def test_a_task_keeps_the_checks_that_it_had_as_the_run_began(
    bakery: Shop, state: Path, checks: list[str]
) -> None:
    agreed = ApprovedChecks(bakery.root, {"s-1": ("make test",)})
    assert agreed.pin_checks({"id": "s-1", "checks": checks}) == ("make test",)
    assert agreed.pin_checks({"id": "s-2", "checks": checks}) == tuple(checks)
    assert not state.exists()


_SETTINGS = ".claude/settings.json"


def _write_settings(shop: Shop, text: str, path: str = _SETTINGS) -> None:
    shop.write(path, text)
    shop.commit("settings")


def test_files_that_agents_execute_need_approval_with_all_else(stall: Shop) -> None:
    _write_settings(stall, '{"hooks": {}}')
    assert f"a file of an agent: {_SETTINGS} (not trusted)" in _refused(stall)
    trust_project(stall.stores, {})
    assert _runs(stall) == ["ok"]


def test_a_changed_or_added_file_of_an_agent_is_refused_alone(stall: Shop) -> None:
    _write_settings(stall, '{"hooks": {}}')
    trust_project(stall.stores, {})
    _write_settings(stall, '{"hooks": {"a": 1}}')
    _write_settings(stall, "{}", ".mcp.json")
    assert sorted(_refused(stall)) == [
        f"a file of an agent: {_SETTINGS} (changed since you trusted it)",
        "a file of an agent: .mcp.json (not trusted)",
    ]
    found = read_executables(stall.stores, {})
    untrusted = [one.facts["path"] for one in found if not one.trusted]
    assert sorted(untrusted) == [_SETTINGS, ".mcp.json"]
    shown = {one.line: one.text for one in trust_project(stall.stores, {})}
    line = f"a file of an agent: {_SETTINGS} (changed since you trusted it)"
    assert shown[line] == '{"hooks": {"a": 1}}'
    assert all(one.trusted for one in read_executables(stall.stores, {}))


def test_the_base_has_to_have_the_approved_files(stall: Shop) -> None:
    """The agent of a place would execute what is committed."""
    _write_settings(stall, '{"hooks": {"committed": 1}}')
    stall.write(_SETTINGS, '{"hooks": {}}')
    trust_project(stall.stores, {})
    assert list(_refused(stall)) == [
        f"a file of an agent: {_SETTINGS} (changed since you trusted it)"
    ]
    git(stall.root, "checkout", "-q", "--", _SETTINGS)
    trust_project(stall.stores, {})
    assert _runs(stall) == ["ok"]


@pytest.mark.parametrize("trust", [True, False])
def test_the_next_agent_does_not_start_with_settings_that_an_attempt_wrote(
    stall: Shop, *, trust: bool
) -> None:
    _write_settings(stall, '{"hooks": {}}')
    stall.client(f"{_MAKE}; echo '{{}}' > .mcp.json")
    stall.task("s-2")
    trust_project(stall.stores, {})
    done = stall.run(trust=trust)
    assert (done.outcomes, done.end["end"], done.end["ok"]) == (
        ["ok", "untrusted"], "untrusted", False,
    )  # fmt: skip
    assert done.end["why"] == "a file of an agent: .mcp.json (not trusted)"
    assert "cub trust" in done.end["hint"]
    assert (stall.status("s-2"), stall.dirt()) == ("open", "")
    trust_project(stall.stores, {})
    assert _runs(stall) == ["ok"]


def test_a_file_that_changes_while_a_run_goes_on_is_not_executed(stall: Shop) -> None:
    stall.write(_SETTINGS, '{"hooks": {}}')
    stall.task("s-2")
    stall.commit("settings")
    trust_project(stall.stores, {})

    def each(event: Event) -> None:
        if event["ev"] == "task_state" and event["task"] == "s-1":
            stall.write(_SETTINGS, '{"hooks": {"a": 1}}')
            stall.commit("other settings")

    done = stall.run(trust=False, each=each)
    assert done.outcomes == ["ok", "untrusted"]
    assert not (stall.root / "made-s-2").exists()


def test_what_was_shown_is_what_is_trusted(stall: Shop) -> None:
    """A file that changes after `cub trust` has read it is not trusted."""
    _write_settings(stall, '{"hooks": {}}')
    shown = [one for one in trust_project(stall.stores, {}) if one.section == "files"]
    assert load_trust(stall.root).files == {one.facts["path"]: one.content for one in shown}
    assert [one.text for one in shown] == ['{"hooks": {}}']
