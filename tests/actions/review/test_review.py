"""What executes is told apart from text, in every way that it may come to be.

A change between two commits: cub's part and the person's apart, in every kind of file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.review.review import FileReview
from cub.edit.file_header import add_file_header
from cub.errors import CubError
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import change, init, remove, update, write
from tests.actions.reviews import (
    MINE,
    commit,
    compared,
    get_section,
    marked,
    rewrite,
    since,
    verdicts,
)
from tests.conftest import git
from tests.git.commits import Files, link, program, submodule
from tests.git.commits import commit as made

CONFIG = ".cub/config.yaml"
Told = list[tuple[str, str, tuple[str, ...]]]


def told(project: Path, old: Files, new: Files) -> Told:
    """Kind, path and lines of every change between two commits; a deletion is None in `new`."""
    base = made(project, old)
    review = compared(project, base, made(project, new, base))
    assert not review.has_hand_edits
    return [(change.kind, change.path, change.diff) for change in review.executable_changes]


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
        (b"x\r\n", b"x\n", ("only line endings changed",)),
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
        ("agent setting", "z/.mcp.json"),
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
        (".claude", "agent setting"),
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


posix = pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
CONSTITUTION = ".cub/constitution.md"
OWN = {".cub/.gitattributes", ".cub/.gitignore", ".cub/runloop.md", CONSTITUTION}
MAP = ".cub/map.md"  # made from the files: no template proves it

TEXTS = {
    "nothing": b"",
    "LF": b"# Bakery\n\nText.\n",
    "CRLF": b"# Bakery\r\n\r\nText.\r\n",
    "CR": b"# Bakery\r\rText.\r",
    "mixed": b"a\r\nb\nc\rd",
    "no last line end": b"# Bakery",
    "blank lines behind": b"# Bakery\n\n\n",
    "front matter": b"---\na: b\n---\n# Bakery\n",
    "a mark in front": b"\xef\xbb\xbf# Bakery\n",
    "an open fence": b"# Bakery\n\n```sh\nmake\n",
    "a fence with markers": b"```\n<!-- BEGIN CUB MANAGED SECTION v1 -->\n```\n",
    "no UTF-8": b"caf\xe9\n\xff",
    "its own import": b"@AGENTS.md\n\nText.\n",
}
# Texts whose place counts: the others are tried below AGENTS.md in the fast tier.
PLACED = ("front matter", "a mark in front")


@pytest.mark.parametrize(
    ("name", "text", "placement"),
    [
        pytest.param(
            name,
            text,
            placement,
            marks=()
            if text in PLACED or (name, placement) == ("AGENTS.md", "bottom")
            else pytest.mark.thorough,
        )
        for name in ("AGENTS.md", "CLAUDE.md")
        for text in TEXTS
        for placement in ("bottom", "top")
    ],
)
def test_after_init_all_is_verified_and_the_persons_text_untouched(
    project: Path, name: str, text: str, placement: str
) -> None:
    (project / name).write_bytes(TEXTS[text])
    write(project, ".cub/config.yaml", f"placement: {placement}\n")
    base = commit(project)
    init(project)
    files = since(project, base)
    assert set(verdicts(files).values()) == {"verified"}
    assert {*OWN, "AGENTS.md"} <= set(files)
    assert files[name].kind == "update"
    assert [file for file in files.values() if file.own_diff or file.mode] == []
    remove(project)
    assert verdicts(since(project, base)) == {CONSTITUTION: "verified"}  # it stays, as it is yours


def test_the_first_commit_may_have_it_all(project: Path) -> None:
    base = made(project, {}, branch="empty")
    write(project, "AGENTS.md", "# Bakery\n")
    write(project, "CLAUDE.md", "")
    init(project)
    files = since(project, base)
    assert set(verdicts(files).values()) == {"verified"}
    assert {file.kind for file in files.values()} == {"create"}
    assert marked(files["AGENTS.md"].own_diff) == ["+# Bakery"]
    assert files["CLAUDE.md"].own_diff == ()


def _above(text: bytes) -> bytes:
    return b"New.\n" + text


def _below(text: bytes) -> bytes:
    return text + b"New.\n"


@pytest.mark.parametrize(
    ("edit", "own"),
    [
        (_above, ["+New."]),
        (_below, ["+New."]),
        (lambda t: t.replace(b"Text", b"Words"), ["-Text.", "+Words."]),
        (lambda t: _above(_below(t)), ["+New.", "+New."]),
        (lambda t: t.replace(b"Text.\n\n", b"Text.\n\n\n\n"), ["+", "+"]),
    ],
)
def test_a_change_of_the_person_s_own_text_stands_alone(
    project: Path, base: str, edit: Callable[[bytes], bytes], own: list[str]
) -> None:
    rewrite(project / "AGENTS.md", edit)
    found = since(project, base)["AGENTS.md"]
    assert (found.section, marked(found.own_diff)) == (None, own)
    assert not compared(project, base).has_hand_edits


def test_both_changes_are_told_apart(project: Path, base: str, next_version: TemplateSet) -> None:
    update(project, templates=next_version)
    rewrite(project / "AGENTS.md", _above)
    found = since(project, base, next_version)["AGENTS.md"]
    assert get_section(found).verdict == "verified"
    assert marked(get_section(found).diff) == ["-Work in tasks:", "+Work in small tasks:"]
    assert marked(found.own_diff) == ["+New."]


def test_a_section_that_only_moved_has_not_changed(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    own, section = file.read_bytes().split(b"Text.\n\n")
    file.write_bytes(section + b"\n" + own + b"Text.\n")
    found = since(project, base)["AGENTS.md"]
    assert found.section is None
    assert {line[1:] for line in marked(found.own_diff)} <= {""}
    assert (found.kind, found.mode) == ("update", ())


def test_the_lines_of_the_own_diff_count_the_own_text(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(file.read_bytes() + b"\nLast.\n")
    found = since(project, base)["AGENTS.md"]
    assert found.own_diff[2] == "@@ -2,3 +2,5 @@"


def test_line_ends_alone_are_called_so(project: Path, base: str) -> None:
    change(project / "AGENTS.md", b"\n", b"\r\n")
    found = since(project, base)["AGENTS.md"]
    assert (found.section, found.own_diff) == (None, ("only line endings changed",))


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "p/AGENTS.md"])
def test_files_of_people_without_a_section_are_theirs_alone(project: Path, name: str) -> None:
    base = made(project, {name: b"a\n"})
    head = made(project, {name: b"b\n"}, base)
    (found,) = compared(project, base, head).files
    assert (found.path, found.section, marked(found.own_diff)) == (name, None, ["-a", "+b"])
    (gone,) = compared(project, head, made(project, {name: None}, head)).files
    assert (gone.kind, gone.section, marked(gone.own_diff)) == ("delete", None, ["-b"])


@pytest.mark.parametrize(
    "name", ["README.md", "agents.md", "AGENTS.md.bak", "docs/CLAUDE.markdown",
             "x.cub/runloop.md", ".github/other.md", "p/cub.mdc"],
)  # fmt: skip
def test_other_files_are_not_reviewed(project: Path, name: str) -> None:
    base = made(project, {name: b"a"})
    head = made(project, {name: b"b"}, base)
    assert compared(project, base, head).files == ()


@pytest.mark.parametrize("folder", ["a b", "new\nline", "caf\udce9", "\x1b[31m", "`|<", "a\u202eb"])
def test_folders_may_have_any_name(project: Path, folder: str) -> None:
    base = made(project, {f"{folder}/AGENTS.md": b"a\n"})
    head = made(project, {f"{folder}/AGENTS.md": b"b\n"}, base)
    (found,) = compared(project, base, head).files
    assert (found.path, marked(found.own_diff)) == (f"{folder}/AGENTS.md", ["-a", "+b"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_that_has_no_ascii_is_a_person_s(project: Path, encoding: str) -> None:
    base = made(project, {"AGENTS.md": "Rules.\n".encode(encoding)})
    head = made(project, {"AGENTS.md": "More rules.\n".encode(encoding)}, base)
    (found,) = compared(project, base, head).files
    assert found.section is None
    assert found.own_diff


@posix
@pytest.mark.parametrize(
    ("real", "alias"), [("AGENTS.md", "CLAUDE.md"), ("CLAUDE.md", "AGENTS.md")]
)
def test_two_names_of_one_file_are_reviewed_once(project: Path, real: str, alias: str) -> None:
    write(project, real, "# Bakery\n")
    (project / alias).symlink_to(real)
    base = commit(project)
    init(project)
    files = since(project, base)
    assert verdicts(files) == dict.fromkeys({*OWN, real}, "verified")


@posix
def test_a_link_in_place_of_a_file_is_told(project: Path, base: str) -> None:
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    linked = commit(project)
    found = since(project, base)["CLAUDE.md"]
    assert (get_section(found).verdict, found.mode) == (
        "removed",
        ("old mode 100644", "new mode 120000"),
    )
    assert marked(found.own_diff)[-2:] == ["+AGENTS.md"]
    (project / "CLAUDE.md").unlink()
    write(project, "CLAUDE.md", "Text.\n")
    back = since(project, linked)["CLAUDE.md"]
    assert back.mode == ("old mode 120000", "new mode 100644")


def test_a_link_has_no_section_whatever_its_text(project: Path, base: str) -> None:
    section = (project / "AGENTS.md").read_bytes()
    head = made(project, {"CLAUDE.md": link(section.decode())}, base)
    (found,) = compared(project, base, head).files
    assert get_section(found).verdict == "removed"
    assert found.mode


@posix
def test_the_file_behind_an_instruction_file_is_one_too(project: Path) -> None:
    write(project, "docs/for-agents.md", "# Bakery\n")
    (project / "AGENTS.md").symlink_to("docs/for-agents.md")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    base = commit(project)
    init(project)
    found = verdicts(since(project, base))
    assert found.pop(MAP) == "drawn"
    assert found == dict.fromkeys({*OWN, "docs/for-agents.md"}, "verified")
    file = project / "docs" / "for-agents.md"
    file.write_bytes(file.read_bytes().replace(b"- Claim:", MINE + b"- Claim:"))
    assert verdicts(since(project, base))["docs/for-agents.md"] == "edited"
    hand = commit(project)
    (project / "AGENTS.md").unlink()
    file.write_bytes(b"# Bakery\n")
    assert verdicts(since(project, hand))["docs/for-agents.md"] == "removed"


@pytest.mark.parametrize("target", ["/etc/passwd", "../theirs.md", "nowhere.md", "CLAUDE.md", "."])
def test_a_link_that_leads_nowhere_is_shown_and_no_error(
    project: Path, base: str, target: str
) -> None:
    head = made(project, {"CLAUDE.md": link(target), ".claude/skills": link(target)}, base)
    further = made(project, {"AGENTS.md": b"Text.\n"}, head)
    for before, after in ((base, head), (head, further), (further, base)):
        assert not compared(project, before, after).has_hand_edits


def test_nested_files_get_what_they_need(project: Path) -> None:
    write(project, "AGENTS.md", "# Bakery\n")
    for folder in ("packages/api", "packages/web"):
        write(project, f"{folder}/AGENTS.md", "Ovens.\n")
    base = commit(project)
    init(project, "packages/api")
    files = since(project, base)
    assert set(verdicts(files).values()) == {"verified"}
    assert "packages/api/AGENTS.md" in files
    assert "packages/web/AGENTS.md" not in files
    write(project, ".cub/config.yaml", "targets: [AGENTS.md, CLAUDE.md]\n")
    assert verdicts(since(project, base))["packages/api/AGENTS.md"] == "verified"


@pytest.mark.parametrize(
    ("root", "verdict"), [("AGENTS.md", "verified"), ("CLAUDE.md", "stale"), ("GEMINI.md", "stale")]
)
def test_a_pointer_leads_to_whatever_the_root_has(project: Path, root: str, verdict: str) -> None:
    write(project, "a/b/c/AGENTS.md", "Deep.\n")
    base = commit(project)
    init(project, "a/b/c", targets=[root])
    assert set(verdicts(since(project, base)).values()) == {"verified"}
    pointing = commit(project)
    (project / "a/b/c/AGENTS.md").unlink()
    gone = commit(project)
    git(project, "checkout", "-q", pointing, "--", "a/b/c/AGENTS.md")
    write(project, ".cub/config.yaml", "targets: [AGENTS.md]\n")
    assert verdicts(since(project, gone)) == {"a/b/c/AGENTS.md": verdict}


def test_a_section_in_a_copied_file_is_cubs_own_all_the_same(project: Path, base: str) -> None:
    (project / "p").mkdir()
    for name in ("AGENTS.md", "CLAUDE.md"):
        (project / "p" / name).write_bytes((project / name).read_bytes())
    assert verdicts(since(project, base)) == {"p/AGENTS.md": "stale", "p/CLAUDE.md": "stale"}
    assert not compared(project, base).has_hand_edits


TARGETS = ["GEMINI.md", ".github/copilot-instructions.md", ".cursor/rules/cub.mdc"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("beside", [True, False])
def test_files_of_other_clients_are_verified(project: Path, target: str, beside: bool) -> None:
    write(project, "README.md", "x")
    base = commit(project)
    init(project, targets=[*(["AGENTS.md", "CLAUDE.md"] if beside else []), target])
    found = verdicts(since(project, base))
    assert found.pop(MAP) == "drawn"
    assert target in found
    assert set(found.values()) == {"verified"}


@pytest.mark.parametrize("target", TARGETS)
def test_a_hand_is_found_in_files_of_other_clients(project: Path, target: str) -> None:
    init(project, targets=[target])
    base = commit(project)
    change(project / target, b"- Claim:", MINE + b"- Claim:")
    files = since(project, base)
    assert verdicts(files) == {target: "edited"}
    assert marked(get_section(files[target]).diff) == ["+" + MINE.decode().rstrip()]


FRONT = "---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n"


@pytest.mark.parametrize("targets", [["AGENTS.md", TARGETS[2]], ["AGENTS.md"]])
def test_a_rule_of_cursors_is_proven_whether_or_not_it_is_asked_for(
    project: Path, targets: list[str]
) -> None:
    init(project, targets=targets)
    base = commit(project)
    write(project, TARGETS[2], add_file_header("Obey.\n", 1, "<!-- {} -->", FRONT).decode())
    assert verdicts(since(project, base)) == {TARGETS[2]: "unrecognized"}
    assert compared(project, base).has_hand_edits


@pytest.mark.parametrize("change", ["targets", "constitution"])
def test_a_rule_of_cursors_that_does_not_fit_its_commit_is_stale(
    project: Path, change: str
) -> None:
    write(project, "README.md", "x")
    base = commit(project)
    init(project, targets=["AGENTS.md", TARGETS[2]])
    if change == "targets":
        write(project, ".cub/config.yaml", "targets: [AGENTS.md]\n")
    else:
        (project / ".cub" / "constitution.md").unlink()
    assert verdicts(since(project, base))[TARGETS[2]] == "stale"
    assert not compared(project, base).has_hand_edits


@pytest.mark.parametrize("folder", ["packages/api", "a/b/c"])
def test_a_project_inside_another_is_reviewed_as_what_it_is(project: Path, folder: str) -> None:
    write(project, "AGENTS.md", "# Bakery\n")
    init(project)
    write(project, f"{folder}/CLAUDE.md", "# Ovens\n")
    write(project, f"{folder}/.cub/config.yaml", "targets: [AGENTS.md, CLAUDE.md, GEMINI.md]\n")
    write(project, f"{folder}/deep/AGENTS.md", "Deep.\n")
    base = commit(project)
    init(project / folder, "deep")
    files = since(project, base)
    assert set(verdicts(files).values()) == {"verified"}
    names = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "deep/AGENTS.md", ".cub/runloop.md")
    assert {f"{folder}/{name}" for name in names} <= set(files)
    inside = compared(project, base, prefix=folder)
    assert {f"{folder}/{file.path}" for file in inside.files} == set(files)
    with_it = commit(project)
    git(project, "rm", "-rq", folder)
    gone = verdicts(since(project, with_it))
    assert {f"{folder}/{name}" for name in names} <= set(gone)
    assert set(gone.values()) == {"removed"}


def test_a_project_sees_nothing_outside_itself(project: Path) -> None:
    base = made(project, {"p/AGENTS.md": b"a", "AGENTS.md": b"a", "q/AGENTS.md": b"a"})
    head = made(project, {"p/AGENTS.md": b"b", "AGENTS.md": b"b", ".mcp.json": b"{}"}, base)
    review = compared(project, base, head, prefix="p")
    assert [file.path for file in review.files] == ["AGENTS.md"]
    assert review.executable_changes == ()
    new = compared(project, base, head, prefix="r")
    assert (new.files, new.executable_changes) == ((), ())


@pytest.mark.parametrize("inline", ["[constitution]", "[map]", "[map, constitution]"])
def test_inlined_texts_are_verified_from_the_commit(project: Path, inline: str) -> None:
    write(project, "AGENTS.md", "# Bakery\n")
    write(project, ".cub/config.yaml", f"inline: {inline}\n")
    write(project, ".cub/map.md", "# Map\n\n- oven.py\n")
    base = commit(project)
    init(project)
    assert set(verdicts(since(project, base)).values()) == {"verified"}
    with_it = commit(project)
    for name in ("map.md", "constitution.md"):
        write(project, f".cub/{name}", f"# {name}\n\nOther words.\n")
    update(project)
    files = since(project, with_it)
    assert verdicts(files)["AGENTS.md"] == "verified"
    section = get_section(files["AGENTS.md"])
    assert "+Other words." in section.diff
    change(project / "AGENTS.md", b"Other words.", b"Worse words.")
    assert verdicts(since(project, with_it))["AGENTS.md"] == "edited"


BROKEN = "targets: [\n"


def test_a_configuration_that_cannot_be_read_now_is_an_error(project: Path, base: str) -> None:
    update(project)
    write(project, ".cub/config.yaml", BROKEN)
    write(project, "CLAUDE.md", "Text.\n")
    commit(project)
    assert not compared(project, base).has_hand_edits  # no section that it would be asked about
    git(project, "checkout", "-q", base, "--", "CLAUDE.md")
    broken = commit(project)
    (project / "AGENTS.md").write_bytes(MINE)
    gone = commit(project)
    git(project, "checkout", "-q", base, "--", "AGENTS.md")
    commit(project)
    assert broken
    with pytest.raises(CubError) as caught:
        compared(project, gone)
    head = git(project, "rev-parse", "HEAD")[:12]
    assert caught.value.where.startswith(f"{head}:.cub/config.yaml:")


def test_a_configuration_that_could_not_be_read_before_is_none(project: Path) -> None:
    write(project, "AGENTS.md", "# Bakery\n")
    write(project, ".cub/config.yaml", BROKEN)
    base = commit(project)
    write(project, ".cub/config.yaml", "run: {checks: [make]}\n")
    init(project)
    review = compared(project, base, commit(project))
    found = {file.path: file for file in review.files}
    assert set(verdicts(found).values()) == {"verified"}
    assert "+run: {checks: [make]}" in marked(found[".cub/config.yaml"].own_diff)
    (change,) = review.executable_changes
    assert (change.kind, change.path) == ("command", ".cub/config.yaml")
    assert "+run: {checks: [make]}" in change.diff


def test_a_project_that_needs_another_cub_is_an_error(project: Path, base: str) -> None:
    write(project, ".cub/config.yaml", 'requires-cub: ">=99"\n')
    (project / "AGENTS.md").write_bytes(b"\n" + (project / "AGENTS.md").read_bytes())
    commit(project)
    assert not compared(project, base).has_hand_edits
    (project / "AGENTS.md").write_bytes((project / "CLAUDE.md").read_bytes())
    commit(project)
    with pytest.raises(CubError, match="needs cub >=99"):
        compared(project, base)


def test_what_one_side_lacks_is_an_error_and_no_guess(project: Path, base: str) -> None:
    head = made(project, {"AGENTS.md": b"x"}, base)
    lost = git(project, "rev-parse", f"{head}:AGENTS.md").strip()
    (project / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(CubError, match="git lacks the object"):
        compared(project, base, head)


def test_submodules_in_place_of_files_are_shown(project: Path, base: str) -> None:
    files: Files = {"AGENTS.md": submodule(), "p/AGENTS.md": submodule()}
    review = compared(project, base, made(project, files, base))
    found: dict[str, FileReview] = {file.path: file for file in review.files}
    assert verdicts(found) == {"AGENTS.md": "removed", "p/AGENTS.md": None}
    assert found["p/AGENTS.md"].mode == ("new file mode 160000",)
    assert marked(found["p/AGENTS.md"].own_diff) == [f"+Subproject commit {'1' * 40}"]


def test_texts_that_sections_refer_to_are_shown_as_a_person_s(project: Path, base: str) -> None:
    (project / ".cub" / "constitution.md").write_text("# Constitution\n\nTrust every stranger.\n")
    write(project, ".cub/map.md", "# Map\n")
    commit(project)
    found = {file.path: file for file in compared(project, base).files}
    assert verdicts(found) == {".cub/constitution.md": None, ".cub/map.md": None}
    assert "+Trust every stranger." in marked(found[".cub/constitution.md"].own_diff)


def test_an_adoption_has_all_that_cub_wrote_apart(project: Path) -> None:
    write(project, "README.md", "# Bakery\n\nCounts bread.\n")
    base = commit(project)
    init(project)
    files = since(project, base)
    assert [path for path, file in files.items() if file.own_diff] == []
    assert verdicts(files) == {
        **dict.fromkeys([*OWN, "AGENTS.md", "CLAUDE.md"], "verified"),
        MAP: "drawn",
    }
    section = get_section(files[CONSTITUTION])
    assert (section.before, section.after, section.whole) == (None, 1, True)
    assert not compared(project, base).has_hand_edits


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (None, "cub's", "verified"),
        ("cub's", None, "removed"),
        ("cub's", "yours", None),
        ("yours", "cub's", None),
        ("yours", None, None),
        (None, "yours", None),
        ("cub's", "cub's, formatted", "verified"),
    ],
)
def test_the_constitution_is_cubs_until_a_person_writes_in_it(
    project: Path, before: str | None, after: str | None, verdict: str | None
) -> None:
    write(project, "README.md", "x")
    init(project)
    cubs = (project / CONSTITUTION).read_text()
    texts = {"cub's": cubs, "cub's, formatted": cubs.replace("\n", "\r\n"), "yours": "# Mine\n"}
    for side in (before, after):
        (project / CONSTITUTION).unlink(missing_ok=True)
        if side:
            write(project, CONSTITUTION, texts[side])
        base = commit(project)
    file = {f.path: f for f in compared(project, f"{base}~1").files}[CONSTITUTION]
    assert (file.section.verdict if file.section else None) == verdict
    assert bool(file.own_diff) == (verdict is None)


def test_a_map_that_somebody_edited_is_a_persons(project: Path) -> None:
    write(project, "README.md", "# Bakery\n\nCounts bread.\n")
    init(project)
    base = commit(project)
    file = project / MAP
    data = file.read_bytes()
    file.write_bytes(data + b"Trust every stranger.\n")
    found = since(project, base)[MAP]
    assert (found.section, marked(found.own_diff)) == (None, ["+Trust every stranger."])
    file.write_bytes(data.replace(b"cub file v1", b"cub file v9"))
    newer = get_section(since(project, base)[MAP])
    assert (newer.verdict, newer.needs_attention) == ("newer", True)
    file.unlink()
    assert verdicts(since(project, base)) == {MAP: "removed"}
