from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.harness.scripted_harness import read_script


def test_a_script_has_steps_for_each_task(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(
        "tasks:\n"
        "  shop-1:\n"
        "    - say: [a, b]\n"
        "      files: {x/y.py: 'z', old: null}\n"
        "      replace: [{file: a, old: '1', new: '2'}]\n"
        "      close: no_change\n"
        "      final: end\n"
        "      usage: {input: 1, output: 0}\n"
        "      usd: 1\n"
        "      exit: 255\n"
        "    - {say: c, denied: rm, limit: wait}\n"
        '  "*": [{}]\n'
    )
    assert read_script(path, "s.yaml") == {
        "shop-1": (
            {
                "say": ["a", "b"],
                "files": {"x/y.py": "z", "old": None},
                "replace": [{"file": "a", "old": "1", "new": "2"}],
                "close": "no_change",
                "final": "end",
                "usage": {"input": 1, "output": 0},
                "usd": 1.0,
                "exit": 255,
            },
            {"say": ["c"], "denied": "rm", "limit": "wait"},
        ),
        "*": ({},),
    }


STEP = "tasks:\n  a:\n    - "


@pytest.mark.parametrize(
    ("text", "where", "message", "hint"),
    [
        ("", "s.yaml", "this script is empty", "start it with `tasks:`"),
        ("- a", "s.yaml:1:1", "expected a mapping", ""),
        ("task: {}", "s.yaml:1:1", "unknown key 'task'", "did you mean tasks?"),
        ("{}", "s.yaml:1:1", "this script has no tasks", "start it with `tasks:`"),
        ("tasks: []", "s.yaml:1:8", "expected a mapping", ""),
        ("tasks:\n  a: {say: x}", "s.yaml:2:6", "expected a list", "start each"),
        ("tasks:\n  a: []", "s.yaml:2:6", "this task has no steps", "start each"),
        (STEP + "x", "s.yaml:3:7", "expected a mapping", ""),
        (STEP + "sya: x", "s.yaml:3:7", "unknown key 'sya'", "did you mean say?"),
        (STEP + "other: x", "s.yaml:3:7", "unknown key 'other'", "choose from say, files"),
        (STEP + "say: 5", "s.yaml:3:12", "expected a string", "put it in quotes"),
        (STEP + "files: {a: [1]}", "s.yaml:3:18", "expected a string", "quotes"),
        (STEP + "replace: {}", "s.yaml:3:16", "expected a list", ""),
        (STEP + "replace: [{file: a, old: b}]", "s.yaml:3:17", "'new' is missing", ""),
        (STEP + "files: {a: x, .git/config: y}", "s.yaml:3:21", ".git/config leads into git's", ""),
        (
            STEP + "files: {sub/.GIT: y}",
            "s.yaml:3:15",
            "sub/.GIT leads into git's directory",
            "alone",
        ),
        (STEP + "files: {../a: null}", "s.yaml:3:15", "../a leads out of the project", "alone"),
        (
            STEP + "replace: [{file: .git/config, old: a, new: b}]",
            "s.yaml:3:24",
            ".git/config leads into git's directory",
            "alone",
        ),
        (STEP + "close: wontfix", "s.yaml:3:14", "'wontfix' is not one of done, no_change", ""),
        (STEP + "close: doen", "s.yaml:3:14", "'doen' is not one of", "did you mean done?"),
        (STEP + "exit: 256", "s.yaml:3:13", "an exit code must be at most 255", ""),
        (STEP + "exit: true", "s.yaml:3:13", "expected an integer", ""),
        (STEP + "usd: -1", "s.yaml:3:12", "this is not a number of dollars", ""),
        (STEP + "usd: x", "s.yaml:3:12", "this is not a number of dollars", ""),
        (STEP + "usage: {inputs: 1}", "s.yaml:3:15", "unknown key 'inputs'", "did you mean input?"),
        (STEP + "usage: {input: -1}", "s.yaml:3:22", "expected an integer", ""),
        ("tasks: {a: [", "s.yaml:1:13", "", ""),
        ("tasks: {a: \xff", "s.yaml:1:12", "byte 0xff is not UTF-8", "save the file as UTF-8"),
    ],
)
def test_what_no_script_says_is_an_error_with_its_place(
    tmp_path: Path, text: str, where: str, message: str, hint: str
) -> None:
    path = tmp_path / "script.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CubError) as error:
        read_script(path, "s.yaml")
    assert error.value.where == where
    assert message in error.value.message
    assert hint in error.value.hint


def test_a_script_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CubError, match="can't be read: no such file") as error:
        read_script(tmp_path / "none.yaml", "none.yaml")
    assert error.value.where == "none.yaml"
