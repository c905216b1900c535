from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from packaging.version import Version
from ruamel.yaml import YAML

from cub import __version__
from cub.project.config import CONFIG_SCHEMA
from cub.project.migrations import (
    LayoutTraces,
    Migration,
    MigrationStep,
    Verb,
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


STEPS = {
    "move: {from: a.md, to: .cub/b.md}": MigrationStep("move", ("a.md",), ".cub/b.md"),
    f"move: {{from: [a, b/c], to: d, keep_as: d.old, known: [{HASH}]}}": MigrationStep(
        "move", ("a", "b/c"), "d", "d.old", (HASH,)
    ),
    "delete: {paths: [a], only_with_prune: true, begins_with: x}": MigrationStep(
        "delete", ("a",), only_with_prune=True, begins_with=("x",)
    ),
    f"delete: {{paths: a, known: {HASH}, hint: look}}": MigrationStep(
        "delete", ("a",), known=(HASH,), hint="look"
    ),
    "rewrite_marker: {digest: sha256}": MigrationStep("rewrite_marker"),
    "config_from_json: {path: a.json, keep_as: a.old, keys: {x.y: run.model}, default: {z: [1]}}": (
        MigrationStep(
            "config_from_json",
            ("a.json",),
            keep_as="a.old",
            keys={"x.y": "run.model"},
            default={"z": [1]},
        )
    ),
    "note: {path: a, message: look}": MigrationStep("note", ("a",), message="look"),
    "note: {path: a, to: b, message: look, hint: there}": MigrationStep(
        "note", ("a",), "b", message="look", hint="there"
    ),
}


@pytest.mark.parametrize("text", STEPS)
def test_every_verb_is_read(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "m", f"{HEAD}steps:\n  - {text}\n")
    where = LayoutTraces(("old.md",))
    assert load_migrations(folder) == (Migration(2, "a step", "0.2", where, (STEPS[text],)),)
    assert find_newest_number(folder) == 2


_HASH = re.compile(r"[0-9a-f]{64}")
_HEAD_FIELDS = {"number", "summary", "since", "where", "steps"}
# The fields of each verb, those that must be there first.
_FIELDS = {
    "move": ({"from", "to"}, {"keep_as", "known"}),
    "delete": ({"paths"}, {"known", "only_with_prune", "begins_with", "hint"}),
    "rewrite_marker": ({"digest"}, set[str]()),
    "config_from_json": ({"path", "keep_as"}, {"keys", "default", "known"}),
    "note": ({"path", "message"}, {"to", "hint"}),
}


def list_faults(data: bytes, name: str) -> list[str]:
    """Everything that is wrong with a file of migrations: the run-time reader checks nothing."""
    tree = YAML(typ="safe").load(data)
    found = [] if tree.keys() == _HEAD_FIELDS else ["fields"]
    found += [] if int(name[:4]) == tree["number"] > 0 else ["number"]
    found += [] if tree["summary"] and isinstance(tree["summary"], str) else ["summary"]
    found += [] if isinstance(tree["since"], str) else ["since"]
    where = tree["where"]
    found += [] if where.keys() <= {"files", "shared", "ours"} and where["files"] else ["where"]
    found += [f"where {path}" for paths in where.values() for path in paths if is_outside(path)]
    for step in tree["steps"]:
        found += list_step_faults(step)
    return found if tree["steps"] else [*found, "steps"]


def list_step_faults(step: dict[str, Any]) -> list[str]:
    if len(step) != 1 or not step.keys() <= _FIELDS.keys():
        return [f"verb {[*step]}"]
    ((verb, fields),) = step.items()
    needed, others = _FIELDS[verb]
    found = [] if needed <= fields.keys() <= needed | others else ["fields of a step"]
    for name in {"from", "to", "keep_as", "paths", "path"} & fields.keys():
        found += [f"{name} {path}" for path in texts_of(fields[name]) if is_outside(path)]
        found += [] if fields[name] else [f"no {name}"]
    known = texts_of(fields.get("known", []))
    found += [f"known {item}" for item in known if not _HASH.fullmatch(item)]
    found += ["known twice"] if len({*known}) < len(known) else []
    if verb == "delete":
        asked, openings = fields.get("only_with_prune") is True, fields.get("begins_with", [])
        is_proven = bool(known) != asked and asked == (openings != [] and all(openings))
        found += [] if is_proven else ["deleted unasked"]
    if verb == "rewrite_marker" and fields["digest"] != "sha256":
        found.append("digest")
    pairs = [*fields.get("keys", {}).items(), *((key, "") for key in fields.get("default", {}))]
    found += ["keys"] if not all(isinstance(text, str) for pair in pairs for text in pair) else []
    lists = fields.get("default", {}).values()
    found += ["default"] if not all(isinstance(values, list) for values in lists) else []
    texts = (fields.get(name, "") for name in ("message", "hint", "to"))
    return found if all(isinstance(text, str) for text in texts) else [*found, "texts"]


def texts_of(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def is_outside(path: str) -> bool:
    odd = path != posixpath.normpath(path) or path.startswith("/") or "\\" in path
    return odd or bool({"..", ".git"} & {*path.split("/")})


def test_what_ships_has_no_fault() -> None:
    for path in get_migrations_folder().glob("*.yaml"):
        assert list_faults(path.read_bytes(), path.name) == []


_STEP = "steps: [{note: {path: a, message: b}}]\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (HEAD.replace("2\n", "3\n", 1) + _STEP, "number"),
        (HEAD.replace("2\n", "0\n", 1) + _STEP, "number"),
        (HEAD + "steps: []\n", "steps"),
        (HEAD.replace("a step", "''") + _STEP, "summary"),
        (HEAD.replace("a step", "[1]") + _STEP, "summary"),
        (HEAD + f"more: 1\n{_STEP}", "fields"),
        (HEAD.replace("[old.md]", "[]") + _STEP, "where"),
        (HEAD.replace("old.md", "../old.md") + _STEP, "where ../old.md"),
        (HEAD.replace("old.md", "/old.md") + _STEP, "where /old.md"),
        (HEAD.replace("old.md", "a//b") + _STEP, "where a//b"),
        (HEAD.replace("old.md", ".git/hooks") + _STEP, "where .git/hooks"),
        *(
            (f"{HEAD}steps: [{step}]\n", fault)
            for step, fault in [
                ("{}", "verb []"),
                ("{move: {}, delete: {}}", "verb ['move', 'delete']"),
                ("{run: {command: rm}}", "verb ['run']"),
                ("{move: {from: a}}", "fields of a step"),
                ("{move: {from: [], to: b}}", "no from"),
                ("{move: {from: a, to: ../b}}", "to ../b"),
                ("{move: {from: a, to: b, force: true}}", "fields of a step"),
                ("{move: {from: a, to: b, known: [abc]}}", "known abc"),
                (f"{{move: {{from: a, to: b, known: [{HASH}, {HASH}]}}}}", "known twice"),
                ("{delete: {paths: a}}", "deleted unasked"),
                ("{delete: {paths: a, only_with_prune: false}}", "deleted unasked"),
                (
                    f"{{delete: {{paths: a, known: [{HASH}], only_with_prune: true}}}}",
                    "deleted unasked",
                ),
                ("{delete: {paths: a, only_with_prune: 1}}", "deleted unasked"),
                ("{delete: {paths: a, only_with_prune: true}}", "deleted unasked"),
                (
                    "{delete: {paths: a, only_with_prune: true, begins_with: ['']}}",
                    "deleted unasked",
                ),
                ("{rewrite_marker: {digest: md5}}", "digest"),
                ("{config_from_json: {path: a, keep_as: b, keys: {x: 1}}}", "keys"),
                ("{config_from_json: {path: a, keep_as: b, keys: {1: x}}}", "keys"),
                ("{config_from_json: {path: a, keep_as: b, default: {x: 1}}}", "default"),
                ("{note: {path: a}}", "fields of a step"),
            ]
        ),
    ],
)
def test_a_fault_in_a_migration_is_found_before_it_ships(text: str, fault: str) -> None:
    assert list_faults(text.encode(), "0002-test.yaml") == [fault]


def test_versions_of_cub_only_rise_and_no_number_is_there_twice() -> None:
    shipped = load_migrations(get_migrations_folder())
    assert [migration.number for migration in shipped] == list(range(1, len(shipped) + 1))
    since = [Version(migration.since) for migration in shipped]
    assert since == sorted(since)


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
    assert find_newest_number(get_migrations_folder()) == CONFIG_SCHEMA
    assert Version(found[-1].since).release <= Version(__version__).release


def test_what_ships_adopts_only_into_keys_that_there_are() -> None:
    steps = [
        step for migration in load_migrations(get_migrations_folder()) for step in migration.steps
    ]
    keys = [to for step in steps for to in step.keys.values()]
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
    assert rows == {verb: needed | others for verb, (needed, others) in _FIELDS.items()}
    assert [*rows] == [*get_args(Verb)]


def test_the_page_has_every_key_that_is_adopted() -> None:
    told = [
        (key, row[1].strip("`"))
        for row in _rows("Key there")
        for key in re.findall(r"`([^`]+)`", row[0])
    ]
    steps = [
        step
        for step in load_migrations(get_migrations_folder())[0].steps
        if step.verb == "config_from_json"
    ]
    assert len(steps) == 2
    for step in steps:
        assert sorted(told) == sorted(step.keys.items())
