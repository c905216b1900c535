from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.standing import stand
from tests.cli.stories import write
from tests.conftest import Cub, git, tree

GEMINI, AIDER, OPENCODE = ".gemini/settings.json", ".aider.conf.yml", "opencode.json"
SETTINGS = {GEMINI, AIDER, OPENCODE}
EACH = [f"--agent={name}" for name in ("claude", "codex", "gemini", "opencode", "aider")]
KNOWN = "all, claude, codex, gemini, opencode, aider, pi"
ALL = ("--agent", "gemini", "--agent", "aider", "--agent", "opencode")


def test_one_command_sets_up_all_of_them(project: Path, cub: Cub) -> None:
    result = cub("init", *ALL)
    assert result.code == 0
    assert tree(project).keys() >= SETTINGS
    assert f"create  {GEMINI}  +3     let Gemini CLI read AGENTS.md" in result.out
    before = stand(project)
    again = cub("init", *ALL)
    assert (again.code, again.out) == (0, "")
    assert {**stand(project), ".cub": before[".cub"]} == before


def test_all_agents_are_set_up_and_every_other_byte_stays(project: Path, cub: Cub) -> None:
    config = b"# Ours.\r\ninline: [constitution]  # short\r\nmap: {tokens: 900}\r\n"
    settings = b'{\n  // Mine.\n  "context": {"fileName": "NOTES.md"}\n}'
    write(project, ".cub/config.yaml", config.decode())
    write(project, GEMINI, settings.decode())
    before = tree(project)
    for option in ("--dry-run", "--diff"):
        shown = cub("init", *EACH, option)
        assert (shown.code, tree(project)) == (0, before)
    assert "+inline: [constitution, map]  # short" in shown.out
    result = cub("init", *EACH, "--json")
    reasons = {c["path"]: c["reason"] for c in json.loads(result.out)["changes"]}
    assert reasons[".cub/config.yaml"] == "let Codex read .cub/map.md"
    assert cub("init", *EACH).code == 0
    after = tree(project)
    edited = config.replace(b"[constitution]", b"[constitution, map]")
    assert after[".cub/config.yaml"] == edited
    assert after[GEMINI] == settings.replace(b'"NOTES.md"', b'["NOTES.md", "AGENTS.md"]')
    assert OPENCODE not in after  # both texts are in the section
    again = cub("init", *EACH)
    assert (again.code, again.out) == (0, "")
    assert cub("update", "--check").code == 0


def test_init_alone_and_update_leave_settings_alone(project: Path, cub: Cub) -> None:
    assert cub("init").code == 0
    assert not tree(project).keys() & SETTINGS
    assert cub("init", "--agent", "aider").code == 0
    (project / AIDER).write_bytes(b"read: MINE.md\n")
    assert cub("update").code == 0
    assert cub("init").code == 0
    assert (project / AIDER).read_bytes() == b"read: MINE.md\n"


def test_the_diff_can_be_applied_by_git(project: Path, cub: Cub) -> None:
    (project / OPENCODE).write_bytes(b'{\n\t"model": "m", // mine\n\t"x": {}\n}')
    shown = cub("init", *ALL, "--diff")
    assert tree(project).keys() == {OPENCODE}
    (project.parent / "changes.diff").write_bytes(shown.out.encode())
    git(project, "apply", "../changes.diff")
    by_git = {path: tree(project)[path] for path in SETTINGS}
    git(project, "apply", "-R", "../changes.diff")
    assert cub("init", *ALL).code == 0
    assert {path: tree(project)[path] for path in SETTINGS} == by_git


def test_json_shows_the_settings_with_their_reasons(cub: Cub) -> None:
    result = cub("init", "--agent", "aider", "--json")
    changes = {c["path"]: c["reason"] for c in json.loads(result.out)["changes"]}
    assert changes[AIDER] == "let aider read AGENTS.md, .cub/constitution.md"


@pytest.mark.parametrize("name", ["cursor", "Gemini", ""])
def test_an_unknown_client_is_a_usage_error_that_lists_the_known(
    project: Path, cub: Cub, name: str
) -> None:
    result = cub("init", "--agent", "aider", "--agent", name)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: unknown agent {name!r}; choose from {KNOWN}\n"
    assert tree(project) == {}


@pytest.mark.parametrize(
    ("agent", "path", "data", "where"),
    [
        ("gemini", GEMINI, b'{\n  "context": [],\n}', ":2:16: trailing comma"),
        ("gemini", GEMINI, b'{\n  "context": []\n}', ":2:14: context: expected a mapping"),
        ("gemini", GEMINI, b"{\xff}", ":1:2: byte 0xff is not UTF-8"),
        ("aider", AIDER, b"read: 3\n", ":1:7: read must be a string or a list of strings"),
        ("aider", AIDER, b"a: &a [x]\nread: *a\n", ": cub can't set `read` here"),
        ("opencode", OPENCODE, b"[]", ":1:1: expected a mapping"),
    ],
)
def test_settings_of_another_kind_stop_everything(
    project: Path, cub: Cub, agent: str, path: str, data: bytes, where: str
) -> None:
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_bytes(data)
    result = cub("init", "--agent", agent)
    assert (result.code, result.out) == (1, "")
    assert f"\nerror: {path}{where}" in result.err
    assert tree(project) == {path: data}


def test_settings_outside_the_project_are_refused(project: Path, cub: Cub) -> None:
    (project.parent / "aider.yml").write_bytes(b"")
    (project / AIDER).symlink_to("../aider.yml")
    result = cub("init", "--agent", "aider")
    assert (result.code, result.out) == (1, "")
    assert "this leads out of the project" in result.err
    assert (project.parent / "aider.yml").read_bytes() == b""


def test_remove_leaves_the_settings_and_warns(project: Path, cub: Cub) -> None:
    assert cub("init", *ALL).code == 0
    kept = {path: tree(project)[path] for path in SETTINGS}
    result = cub("remove", "--yes")
    assert result.code == 0
    assert f"warning: {AIDER}: this still names AGENTS.md, which will be deleted" in result.err
    assert "hint: remove it from `read`, or create a new AGENTS.md" in result.err
    assert {path: tree(project)[path] for path in SETTINGS} == kept


def test_agents_shows_what_is_read_in_a_subdirectory(project: Path, cub: Cub) -> None:
    write(project, "AGENTS.md", "# Ours\n\n" + "A rule of the bakery.\n" * 900)
    write(project, "packages/a/AGENTS.md", "# A\n\n" + "A rule of the till.\n" * 1_000)
    assert cub("init").code == 0
    rows = {}
    for folder in (".", "packages/a"):
        agents = json.loads(cub("-C", folder, "agents", "--json").out)["agents"]
        codex = next(one for one in agents if one["name"] == "codex")
        rows[folder] = {one["label"]: (one["times"], one["cut"]) for one in codex["sources"]}
    assert rows["."]["AGENTS.md (yours)"] == (1, False)
    assert "packages/a/AGENTS.md (yours)" not in rows["."]
    assert rows["packages/a"]["AGENTS.md (yours)"] == (1, False)
    assert rows["packages/a"]["packages/a/AGENTS.md (yours)"] == (1, True)
    shown = cub("-C", "packages/a", "agents").out
    assert "other text            claude  codex   gemini" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80
