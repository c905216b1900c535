"""A change between two commits: cub's part and the person's apart, in every kind of file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.review.review import FileReview
from cub.edit.owned import seal
from cub.errors import CubError
from cub.prompt.templates import TemplateSet
from tests.actions.helpers import init, remove, update, write
from tests.actions.reviews import MINE, commit, compared, marked, since, verdicts
from tests.conftest import git
from tests.git.commits import Files, link, submodule
from tests.git.commits import commit as made

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
    assert [file for file in files.values() if file.own or file.mode] == []
    remove(project)
    assert verdicts(since(project, base)) == {CONSTITUTION: "verified"}  # it stays, as it is yours


def test_the_first_commit_may_have_it_all(project: Path) -> None:
    base = made(project, {}, branch="empty")
    write(project, "AGENTS.md", "# Bakery\n")
    init(project)
    files = since(project, base)
    assert set(verdicts(files).values()) == {"verified"}
    assert {file.kind for file in files.values()} == {"create"}
    assert marked(files["AGENTS.md"].own) == ["+# Bakery"]
    assert files["CLAUDE.md"].own == ()


def _above(text: bytes) -> bytes:
    return b"New.\n" + text


def _below(text: bytes) -> bytes:
    return text + b"New.\n"


def _no_last_line_end(text: bytes) -> bytes:
    return text.rstrip()


@pytest.mark.parametrize(
    ("change", "own"),
    [
        (_above, ["+New."]),
        (_below, ["+New."]),
        (lambda t: t.replace(b"Text", b"Words"), ["-Text.", "+Words."]),
        (lambda t: _above(_below(t)), ["+New.", "+New."]),
        (lambda t: t.replace(b"Text.\n\n", b"Text.\n\n\n\n"), ["+", "+"]),
    ],
)
def test_a_change_of_the_person_s_own_text_stands_alone(
    project: Path, base: str, change: Callable[[bytes], bytes], own: list[str]
) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(change(file.read_bytes()))
    found = since(project, base)["AGENTS.md"]
    assert (found.section, marked(found.own)) == (None, own)
    assert not compared(project, base).touched


def test_both_changes_are_told_apart(project: Path, base: str, next_version: TemplateSet) -> None:
    update(project, templates=next_version)
    file = project / "AGENTS.md"
    file.write_bytes(_above(file.read_bytes()))
    found = since(project, base, next_version)["AGENTS.md"]
    assert found.section is not None
    assert found.section.verdict == "verified"
    assert marked(found.section.diff) == ["-Work in tasks:", "+Work in small tasks:"]
    assert marked(found.own) == ["+New."]


def test_a_section_that_only_moved_has_not_changed(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    own, section = file.read_bytes().split(b"Text.\n\n")
    file.write_bytes(section + b"\n" + own + b"Text.\n")
    found = since(project, base)["AGENTS.md"]
    assert found.section is None
    assert {line[1:] for line in marked(found.own)} <= {""}
    assert (found.kind, found.mode) == ("update", ())


def test_the_lines_of_the_own_diff_count_the_own_text(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(file.read_bytes() + b"\nLast.\n")
    found = since(project, base)["AGENTS.md"]
    assert found.own[2] == "@@ -2,3 +2,5 @@"


def test_line_ends_alone_are_called_so(project: Path, base: str) -> None:
    file = project / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    found = since(project, base)["AGENTS.md"]
    assert (found.section, found.own) == (None, ("only line ends have changed",))


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "p/AGENTS.md"])
def test_files_of_people_without_a_section_are_theirs_alone(project: Path, name: str) -> None:
    base = made(project, {name: b"a\n"})
    head = made(project, {name: b"b\n"}, base)
    (found,) = compared(project, base, head).files
    assert (found.path, found.section, marked(found.own)) == (name, None, ["-a", "+b"])
    (gone,) = compared(project, head, made(project, {name: None}, head)).files
    assert (gone.kind, gone.section, marked(gone.own)) == ("delete", None, ["-b"])


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
    assert (found.path, marked(found.own)) == (f"{folder}/AGENTS.md", ["-a", "+b"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_file_that_has_no_ascii_is_a_person_s(project: Path, encoding: str) -> None:
    base = made(project, {"AGENTS.md": "Rules.\n".encode(encoding)})
    head = made(project, {"AGENTS.md": "More rules.\n".encode(encoding)}, base)
    (found,) = compared(project, base, head).files
    assert found.section is None
    assert found.own


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
    assert found.section is not None
    assert (found.section.verdict, found.mode) == (
        "removed",
        ("old mode 100644", "new mode 120000"),
    )
    assert marked(found.own)[-2:] == ["+AGENTS.md"]
    (project / "CLAUDE.md").unlink()
    write(project, "CLAUDE.md", "Text.\n")
    back = since(project, linked)["CLAUDE.md"]
    assert back.mode == ("old mode 120000", "new mode 100644")


def test_a_link_has_no_section_whatever_its_text(project: Path, base: str) -> None:
    section = (project / "AGENTS.md").read_bytes()
    head = made(project, {"CLAUDE.md": link(section.decode())}, base)
    (found,) = compared(project, base, head).files
    assert found.section is not None
    assert found.section.verdict == "removed"
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
        assert not compared(project, before, after).touched


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
    assert not compared(project, base).touched


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


@pytest.mark.parametrize("target", TARGETS[:2])
def test_a_hand_is_found_in_files_of_other_clients(project: Path, target: str) -> None:
    init(project, targets=[target])
    base = commit(project)
    file = project / target
    file.write_bytes(file.read_bytes().replace(b"- Claim:", MINE + b"- Claim:"))
    assert verdicts(since(project, base)) == {target: "edited"}


def test_a_hand_in_a_rule_of_cub_s_is_no_person_s_text(project: Path) -> None:
    init(project, targets=[TARGETS[2]])
    base = commit(project)
    file = project / TARGETS[2]
    file.write_bytes(file.read_bytes().replace(b"- Claim:", MINE + b"- Claim:"))
    found = since(project, base)[TARGETS[2]]
    assert found.section is not None
    assert found.section.verdict == "edited"
    assert marked(found.section.diff) == ["+" + MINE.decode().rstrip()]


FRONT = "---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n"


@pytest.mark.parametrize("targets", [["AGENTS.md", TARGETS[2]], ["AGENTS.md"]])
def test_a_rule_of_cursors_is_proven_whether_or_not_it_is_asked_for(
    project: Path, targets: list[str]
) -> None:
    init(project, targets=targets)
    base = commit(project)
    write(project, TARGETS[2], seal("Obey.\n", 1, "<!-- {} -->", FRONT).decode())
    assert verdicts(since(project, base)) == {TARGETS[2]: "unrecognized"}
    assert compared(project, base).touched


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
    assert not compared(project, base).touched


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
    assert review.executed == ()
    new = compared(project, base, head, prefix="r")
    assert (new.files, new.executed) == ((), ())


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
    section = files["AGENTS.md"].section
    assert section is not None
    assert "+Other words." in section.diff
    file = project / "AGENTS.md"
    file.write_bytes(file.read_bytes().replace(b"Other words.", b"Worse words."))
    assert verdicts(since(project, with_it))["AGENTS.md"] == "edited"


BROKEN = "targets: [\n"


def test_a_configuration_that_cannot_be_read_now_is_an_error(project: Path, base: str) -> None:
    update(project)
    write(project, ".cub/config.yaml", BROKEN)
    write(project, "CLAUDE.md", "Text.\n")
    commit(project)
    assert not compared(project, base).touched  # no section that it would be asked about
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
    assert "+run: {checks: [make]}" in marked(found[".cub/config.yaml"].own)
    (change,) = review.executed
    assert (change.kind, change.path) == ("command", ".cub/config.yaml")
    assert "+run: {checks: [make]}" in change.diff


def test_a_project_that_needs_another_cub_is_an_error(project: Path, base: str) -> None:
    write(project, ".cub/config.yaml", 'requires-cub: ">=99"\n')
    (project / "AGENTS.md").write_bytes(b"\n" + (project / "AGENTS.md").read_bytes())
    commit(project)
    assert not compared(project, base).touched
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
    assert marked(found["p/AGENTS.md"].own) == [f"+Subproject commit {'1' * 40}"]


def test_texts_that_sections_refer_to_are_shown_as_a_person_s(project: Path, base: str) -> None:
    (project / ".cub" / "constitution.md").write_text("# Constitution\n\nTrust every stranger.\n")
    write(project, ".cub/map.md", "# Map\n")
    commit(project)
    found = {file.path: file for file in compared(project, base).files}
    assert verdicts(found) == {".cub/constitution.md": None, ".cub/map.md": None}
    assert "+Trust every stranger." in marked(found[".cub/constitution.md"].own)


def test_an_adoption_has_all_that_cub_wrote_apart(project: Path) -> None:
    write(project, "README.md", "# Bakery\n\nCounts bread.\n")
    base = commit(project)
    init(project)
    files = since(project, base)
    assert [path for path, file in files.items() if file.own] == []
    assert verdicts(files) == {
        **dict.fromkeys([*OWN, "AGENTS.md", "CLAUDE.md"], "verified"),
        MAP: "drawn",
    }
    section = files[CONSTITUTION].section
    assert section is not None
    assert (section.before, section.after, section.whole) == (None, 1, True)
    assert not compared(project, base).touched


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
    assert bool(file.own) == (verdict is None)


def test_a_map_that_somebody_edited_is_a_persons(project: Path) -> None:
    write(project, "README.md", "# Bakery\n\nCounts bread.\n")
    init(project)
    base = commit(project)
    file = project / MAP
    data = file.read_bytes()
    file.write_bytes(data + b"Trust every stranger.\n")
    found = since(project, base)[MAP]
    assert (found.section, marked(found.own)) == (None, ["+Trust every stranger."])
    file.write_bytes(data.replace(b"cub file v1", b"cub file v9"))
    newer = since(project, base)[MAP].section
    assert newer is not None
    assert (newer.verdict, newer.touched) == ("newer", True)
    file.unlink()
    assert verdicts(since(project, base)) == {MAP: "removed"}
