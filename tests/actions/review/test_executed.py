"""What executes is told apart from text, in every way that it may come to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.actions.reviews import compared
from tests.git.commits import Files, commit, link, program, submodule

CONFIG = ".cub/config.yaml"
Told = list[tuple[str, str, tuple[str, ...]]]


def told(project: Path, old: Files, new: Files) -> Told:
    """Kind, path and lines of every change between two commits; a deletion is None in `new`."""
    base = commit(project, old)
    review = compared(project, base, commit(project, new, base))
    assert not review.touched
    return [(change.kind, change.path, change.diff) for change in review.executed]


HOOK = ".cub/hooks/pre-tool"
DIFF = (f"--- {HOOK} (before)", f"+++ {HOOK} (after)")
MODULES = (
    "--- .claude/agents (before)",
    "+++ .claude/agents (after)",
    "@@ -1 +1 @@",
    f"-Subproject commit {'1' * 40}",
    f"+Subproject commit {'2' * 40}",
)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, b"x\n", (*DIFF, "@@ -0,0 +1 @@", "+x")),
        (b"x\n", None, (*DIFF, "@@ -1 +0,0 @@", "-x")),
        (b"x\n", b"y\n", (*DIFF, "@@ -1 +1 @@", "-x", "+y")),
        (b"x\n", program(b"x\n"), ("old mode 100644", "new mode 100755")),
        (program(b"x\n"), b"x\n", ("old mode 100755", "new mode 100644")),
        (None, program(b"x\n"), ("new file mode 100755", *DIFF, "@@ -0,0 +1 @@", "+x")),
        (b"x", link("x"), ("old mode 100644", "new mode 120000")),
        (b"x\r\n", b"x\n", ("only line ends have changed",)),
        (None, b"", ("an empty file",)),
        (b"", None, ("an empty file",)),
        (None, b"\0\xff\n", (*DIFF, "@@ -0,0 +1 @@", "+\0\udcff")),
    ],
)
def test_every_change_of_a_hook_is_told(
    project: Path, old: bytes | None, new: bytes | None, lines: tuple[str, ...]
) -> None:
    before = {} if old is None else {HOOK: old}
    assert told(project, {"a": b"x", **before}, {HOOK: new}) == [("hook", HOOK, lines)]


def test_only_what_has_changed_is_told(project: Path) -> None:
    files: Files = {HOOK: b"x", ".mcp.json": b"{}", CONFIG: b"run: {checks: [make]}\n"}
    assert told(project, files, {"AGENTS.md": b"x", "src/a.py": b"x"}) == []
    assert told(project, files, {CONFIG: b"# why\nrun:\n  checks: ['make']\ntargets: []\n"}) == []


def test_everything_is_told_in_the_order_of_paths(project: Path) -> None:
    new: Files = {
        "z/.mcp.json": b"{}\n",
        ".claude/skills/bake/SKILL.md": b"x",
        ".agents/tools-bootstrap": b"x",
        ".husky/pre-push": b"x",
        CONFIG: b"run: {checks: [make]}\n",
        "AGENTS.md": b"x",
    }
    assert [(kind, path) for kind, path, _ in told(project, {"a": b""}, new)] == [
        ("command", CONFIG),
        ("bootstrap", ".agents/tools-bootstrap"),
        ("agent file", ".claude/skills/bake/SKILL.md"),
        ("hook", ".husky/pre-push"),
        ("client setting", "z/.mcp.json"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (None, b"run: {checks: [make]}", [('+run.checks: ["make"]',)]),
        (b"run: {checks: [make]}", None, [('-run.checks: ["make"]',)]),
        (
            b"run: {checks: [a], wrap: [w]}\nharnesses: {h: {argv: [x]}}",
            b"run: {checks: [b], notify: n}\nharnesses: {h: {argv: [x]}}",
            [
                ('-run.checks: ["a"]', '+run.checks: ["b"]'),
                ('+run.notify: "n"',),
                ('-run.wrap: ["w"]',),
            ],
        ),
        (
            b"context_commands: [a, b]\nprofiles: {p: {run: {checks: [a]}}}",
            b"context_commands: [a, c]\nprofiles: {p: {run: {checks: [b]}}}",
            [
                ('-context_commands.1: "b"', '+context_commands.1: "c"'),
                ('-profiles.p.run.checks: ["a"]', '+profiles.p.run.checks: ["b"]'),
            ],
        ),
        (b"{", b"{", []),
    ],
)
@pytest.mark.parametrize("folder", ["", "packages/api/"])
def test_commands_are_told_key_by_key(
    project: Path,
    old: bytes | None,
    new: bytes | None,
    lines: list[tuple[str, ...]],
    folder: str,
) -> None:
    path = folder + CONFIG
    before = {} if old is None else {path: old}
    found = told(project, {"a": b"x", **before}, {path: new, "AGENTS.md": b"x"})
    assert found == [("command", path, line) for line in lines]


@pytest.mark.parametrize(("old", "new"), [(b"run: {", b"run: {}\n"), (b"run: {}", b"run: {\n")])
def test_a_configuration_that_cannot_be_read_is_shown_whole(
    project: Path, old: bytes, new: bytes
) -> None:
    ((kind, path, lines),) = told(project, {CONFIG: old}, {CONFIG: new})
    assert (kind, path) == ("command", CONFIG)
    assert lines[0].startswith(f"{CONFIG}:")
    assert f"-{old.decode()}" in lines
    assert f"+{new.decode().rstrip()}" in lines


def test_commands_behind_a_link_are_told_too(project: Path) -> None:
    old: Files = {CONFIG: link("../shared.yaml"), "shared.yaml": b"run: {checks: [a]}\n"}
    new: Files = {"shared.yaml": b"run: {checks: [b]}\n"}
    lines = ('-run.checks: ["a"]', '+run.checks: ["b"]')
    assert told(project, old, new) == [("command", CONFIG, lines)]
    assert told(project, old, {CONFIG: b"run: {checks: [a]}\n"}) == []
    gone = ('-run.checks: ["a"]',)
    assert told(project, old, {"shared.yaml": None}) == [("command", CONFIG, gone)]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".claude/agents", "agent file"),
        (".claude", "client setting"),
        ("p/.cub/hooks", "hook"),
        (".agents", "agent file"),
    ],
)
def test_a_folder_from_elsewhere_is_told(project: Path, path: str, kind: str) -> None:
    for old, new in ((link("../a"), link("../b")), (submodule(), submodule("2" * 40))):
        ((found, where, lines),) = told(project, {path: old}, {path: new})
        assert (found, where) == (kind, path)
        assert lines[2] == "@@ -1 +1 @@"
    ((_, _, lines),) = told(project, {"a": b"x"}, {path: link("../b")})
    assert lines[0] == "new file mode 120000"


def test_a_submodule_shows_its_commits(project: Path) -> None:
    path = ".claude/agents"
    found = told(project, {path: submodule()}, {path: submodule("2" * 40)})
    assert found == [("agent file", path, MODULES)]


@pytest.mark.parametrize("path", ["docs", "src/claude", "vendor/lib"])
def test_other_links_and_submodules_are_not_told(project: Path, path: str) -> None:
    assert told(project, {path: link("a")}, {path: submodule()}) == []


def test_a_folder_in_place_of_a_link_is_told_file_by_file(project: Path) -> None:
    new: Files = {".claude/agents": None, ".claude/agents/a.md": b"x"}
    found = told(project, {".claude/agents": link("../a")}, new)
    assert [path for _, path, _ in found] == [".claude/agents", ".claude/agents/a.md"]
