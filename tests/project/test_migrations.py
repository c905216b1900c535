from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.version import Version

from cub import __version__
from cub.errors import InternalError
from cub.project import migration_steps
from cub.project.config import CONFIG_SCHEMA
from cub.project.migration_steps import (
    DeleteStep,
    ImportJsonStep,
    MigrationStep,
    MoveStep,
    RenameKeyStep,
    RewriteMarkerStep,
    WarnStep,
)
from cub.project.migrations import (
    LayoutTraces,
    Migration,
    find_newest_number,
    get_migrations_folder,
    hash_content,
    load_migrations,
)
from cub.project.settings import find_setting

HASH = "ab" * 32
HEAD = """\
number: 2
summary: a step
since: "0.2"
where:
  files: [old.md]
"""


def write(folder: Path, text: str, name: str = "0002-test.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


STEPS: dict[str, MigrationStep] = {
    "move: {from: a.md, to: .cub/b.md}": MoveStep(("a.md",), ".cub/b.md", "", ()),
    f"move: {{from: [a, b/c], to: d, keep_as: d.old, known: [{HASH}]}}": MoveStep(
        ("a", "b/c"), "d", "d.old", (HASH,)
    ),
    "delete: {paths: [a], only_with_prune: true}": DeleteStep(("a",), (), True, ""),
    f"delete: {{paths: a, known: {HASH}, hint: look}}": DeleteStep(("a",), (HASH,), False, "look"),
    "rewrite_marker: {digest: sha256}": RewriteMarkerStep(),
    "config_rename: {from: old, to: new}": RenameKeyStep("old", "new"),
    "config_from_json: {path: a.json, keep_as: a.old, keys: {x.y: run.model}, default: {z: [1]}}": (
        ImportJsonStep("a.json", "a.old", {"x.y": "run.model"}, {"z": (1,)}, ())
    ),
    "note: {path: a, message: look}": WarnStep("a", "", "look", ""),
    "note: {path: a, to: b, message: look, hint: there}": WarnStep("a", "b", "look", "there"),
}


@pytest.mark.parametrize("text", STEPS)
def test_every_verb_is_read(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "m", f"{HEAD}steps:\n  - {text}\n")
    where = LayoutTraces(("old.md",))
    assert load_migrations(folder) == (Migration(2, "a step", "0.2", where, (STEPS[text],)),)
    assert find_newest_number(folder) == 2


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("number: [", "", "this is not YAML"),
        ("- number: 2\n", "", "this is not a mapping of fields"),
        ("summary: x\n", "", "field 'number' is missing"),
        (HEAD.replace("2\n", "3\n", 1), "", "its number is not the one in its name"),
        (HEAD.replace("2\n", "0\n", 1), "", "number: 0 is not a number above 0"),
        (HEAD.replace("2\n", "true\n", 1), "", "number: True is not a number above 0"),
        (HEAD, "", "field 'steps' is missing"),
        (HEAD + "steps: []\n", "", "steps: this is not a list of mappings"),
        (HEAD.replace("a step", "''") + "steps: []\n", "", "summary: '' is not a text"),
        (HEAD.replace("a step", "[1]") + "steps: []\n", "", "summary: [1] is not a text"),
        (
            HEAD + "more: 1\nsteps: [{note: {path: a, message: b}}]\n",
            "",
            "unknown field 'more'",
        ),
        (HEAD.replace("  files: [old.md]", "  x: 1"), ": where", "unknown field 'x'"),
        (HEAD.replace("[old.md]", "[]"), ": where", "no files"),
        (HEAD.replace("old.md", "../old.md"), ": where", "files: '../old.md' is not a path"),
        (HEAD.replace("old.md", "/old.md"), ": where", "files: '/old.md' is not a path"),
        (HEAD.replace("old.md", "a//b"), ": where", "files: 'a//b' is not a path"),
        (HEAD.replace("old.md", ".git/hooks"), ": where", "files: '.git/hooks' is not a path"),
        (HEAD.replace("[old.md]", "{a: b}"), ": where", "files: {'a': 'b'} is not a list"),
    ],
)
def test_a_fault_in_a_file_names_the_file(
    tmp_path: Path, text: str, where: str, message: str
) -> None:
    with pytest.raises(InternalError) as caught:
        load_migrations(write(tmp_path / "m", text))
    assert caught.value.where == f"migrations/0002-test.yaml{where}"
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("[]", "this is not a mapping of fields"),
        ("{}", "this is not one verb with its fields"),
        ("{move: {}, delete: {}}", "this is not one verb with its fields"),
        ("{run: {command: rm}}", "unknown verb 'run'"),
        ("{move: [a, b]}", "this is not a mapping of fields"),
        ("{move: {from: a}}", "field 'to' is missing"),
        ("{move: {from: [], to: b}}", "from: this list is empty"),
        ("{move: {from: a, to: ../b}}", "to: '../b' is not a path inside the project"),
        ("{move: {from: a, to: b, force: true}}", "unknown field 'force'"),
        ("{move: {from: a, to: b, known: [abc]}}", "known: 'abc' is not a sha256 in hex"),
        (f"{{move: {{from: a, to: b, known: [{HASH}, {HASH}]}}}}", f"known: '{HASH}' is not"),
        ("{delete: {paths: a}}", "nothing is deleted unasked"),
        ("{delete: {paths: a, only_with_prune: false}}", "nothing is deleted unasked"),
        (f"{{delete: {{paths: a, known: [{HASH}], only_with_prune: true}}}}", "nothing is"),
        ("{delete: {paths: a, only_with_prune: 1}}", "only_with_prune: 1 is neither true"),
        ("{rewrite_marker: {digest: md5}}", "digest: the older form is called sha256"),
        ("{config_rename: {from: a}}", "field 'to' is missing"),
        ("{config_rename: {from: a.b, to: c.b}}", "a key gets another name in the mapping"),
        ("{config_from_json: {path: a, keep_as: b, keys: [x]}}", "keys: ['x'] is not a mapping"),
        ("{config_from_json: {path: a, keep_as: b, keys: {x: 1}}}", "keys: a key of config.yaml"),
        ("{config_from_json: {path: a, keep_as: b, default: {x: 1}}}", "default: each key needs"),
        ("{config_from_json: {path: a, keep_as: b, keys: {1: x}}}", "keys: {1: 'x'} is not a"),
        ("{note: {path: a}}", "field 'message' is missing"),
    ],
)
def test_a_fault_in_a_step_names_file_and_step(tmp_path: Path, step: str, message: str) -> None:
    text = f"{HEAD}steps:\n  - note: {{path: a, message: b}}\n  - {step}\n"
    with pytest.raises(InternalError) as caught:
        load_migrations(write(tmp_path / "m", text))
    assert caught.value.where.startswith("migrations/0002-test.yaml: step 2")
    assert caught.value.message.startswith(message)


_STEP = "steps: [{note: {path: a, message: b}}]\n"


@pytest.mark.parametrize(
    ("third", "message"),
    [
        (HEAD.replace("number: 2", "number: 3").replace("0.2", "0.1"), "of an older cub than"),
        (HEAD.replace("number: 2", "number: 3").replace("0.2", "soon"), "soon"),
    ],
)
def test_versions_of_cub_only_rise(tmp_path: Path, third: str, message: str) -> None:
    folder = write(tmp_path / "m", HEAD + _STEP)
    with pytest.raises(InternalError, match=message):
        load_migrations(write(folder, third + _STEP, "0003-test.yaml"))


def test_two_migrations_of_one_number_are_a_fault(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", HEAD + _STEP)
    with pytest.raises(InternalError, match="two migrations of one number"):
        load_migrations(write(folder, HEAD + _STEP, "0002-again.yaml"))


def test_numbers_are_read_off_the_names_in_their_order(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", HEAD + _STEP)
    write(folder, "not read: [", "README.md")
    write(folder, HEAD.replace("2\n", "10\n", 1).replace("0.2", "0.10") + _STEP, "0010-x.yaml")
    write(folder, HEAD.replace("2\n", "9\n", 1).replace("0.2", "0.9") + _STEP, "0009-x.yaml")
    assert [migration.number for migration in load_migrations(folder)] == [2, 9, 10]
    assert find_newest_number(folder) == 10
    (tmp_path / "none").mkdir()
    assert (find_newest_number(tmp_path / "none"), load_migrations(tmp_path / "none")) == (0, ())


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_known_text_is_known_with_either_line_end(end: bytes) -> None:
    assert hash_content(b"a" + end + b"b" + end) == hash_content(b"a\nb\n")
    assert hash_content(b"a\nb") != hash_content(b"a\nb\n")


def test_what_ships_is_read_and_ends_at_the_schema_of_this_cub() -> None:
    found = load_migrations(get_migrations_folder())
    assert [migration.number for migration in found] == list(range(1, len(found) + 1))
    assert find_newest_number(get_migrations_folder()) == CONFIG_SCHEMA
    assert Version(found[-1].since).release <= Version(__version__).release


def test_what_ships_adopts_only_into_keys_that_there_are() -> None:
    steps = [
        step for migration in load_migrations(get_migrations_folder()) for step in migration.steps
    ]
    keys = [to for step in steps if isinstance(step, ImportJsonStep) for to in step.keys.values()]
    assert keys
    assert [key for key in keys if find_setting(tuple(key.split("."))) is None] == []


def test_every_migration_has_golden_trees() -> None:
    golden = Path(__file__).parents[2] / "golden" / "migrations"
    for path in get_migrations_folder().glob("*.yaml"):
        cases = [case for case in golden.iterdir() if case.name.startswith(path.name[:5])]
        assert cases, path.name
        assert all((case / "before").is_dir() and (case / "after").is_dir() for case in cases)


def test_what_ships_is_listed_in_its_readme() -> None:
    text = (get_migrations_folder() / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(\d{4}-[a-z0-9-]+\.yaml)`", text)) == {
        path.name for path in get_migrations_folder().glob("*.yaml")
    }


PAGE = Path(__file__).parents[2] / "docs" / "dev" / "migrations.md"


def _rows(header: str) -> list[list[str]]:
    """The cells of the table on the page whose first column has this header."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition(f"\n| {header} |")
    lines = table.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_page_has_every_verb_with_its_fields() -> None:
    rows = {row[0].strip("`"): set(re.findall(r"`(\w+)\b", row[1])) for row in _rows("Verb")}
    assert rows == {
        "move": {"from", "to", "keep_as", "known"},
        "delete": {"paths", "known", "only_with_prune", "hint"},
        "rewrite_marker": {"digest"},
        "config_rename": {"from", "to"},
        "config_from_json": {"path", "keep_as", "keys", "default", "known"},
        "note": {"path", "to", "message", "hint"},
    }
    assert rows.keys() == migration_steps.STEP_PARSERS.keys()


def test_the_page_has_every_key_that_is_adopted() -> None:
    told = [
        (key, row[1].strip("`"))
        for row in _rows("Key there")
        for key in re.findall(r"`([^`]+)`", row[0])
    ]
    steps = [
        step
        for step in load_migrations(get_migrations_folder())[0].steps
        if isinstance(step, ImportJsonStep)
    ]
    assert len(steps) == 2
    for step in steps:
        assert sorted(told) == sorted(step.keys.items())
