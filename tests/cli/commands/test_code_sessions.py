"""Sessions of `cub code` are saved, resumed, listed, shown and deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shapes import fault
from tests.cli.terminal import in_terminal
from tests.command_line import Result
from tests.conftest import Cub
from tests.model_server.faults import ModelServer, Reply

SCRIPT = """\
conversations:
  - when: Read
    replies:
      - calls: [{Read: {file_path: price.py}}]
        usage: {input: 1000, output: 20}
      - text: "It is ``1``."
        usage: {input: 1100, output: 30}
  - when: Edit
    replies:
      - calls: [{Edit: {file_path: price.py, old_string: "1", new_string: "2"}}]
      - text: I tried.
  - replies:
      - text: Yes.
"""
Code = Callable[..., Result]


@pytest.fixture
def code(project: Path, cub: Cub) -> Code:
    """`cub code` with a scripted model, in a project with one file."""
    (project / "price.py").write_text("PRICE = 1\n", encoding="utf-8")
    (project / "replies.yaml").write_text(SCRIPT, encoding="utf-8")

    def run(*words: str, **more: str) -> Result:
        return cub("code", "--model", "scripted/replies.yaml", *words, **more)

    return run


def list_rows(cub: Cub) -> list[dict[str, Any]]:
    tree = json.loads(cub("code", "sessions", "--json").out)
    assert fault("sessions", tree) == ""
    rows: list[dict[str, Any]] = tree["sessions"]
    return rows


def test_a_session_is_continued_by_its_id_or_as_the_last_one(code: Code, cub: Cub) -> None:
    done = code("-p", "Read it.", "--output-format", "json")
    key = json.loads(done.out)["session"]
    assert code("-p", "Sure?", "--continue").out == "Yes.\n"
    assert code("-p", "Really?", "--resume", key[:6]).out == "Yes.\n"
    done = code("-p", "Truly?", "-r", key, "--output-format", "stream-json")
    assert json.loads(done.out.splitlines()[0]) == {"type": "session", "id": key}
    (row,) = list_rows(cub)
    assert (row["id"], row["prompt"], row["turns"]) == (key, "Read it.", 5)
    assert row["tokens"] == {"input": 2100, "output": 50, "cache_read": 0, "cache_write": 0}


def test_the_model_is_sent_what_was_said_before(cub: Cub) -> None:
    with ModelServer([Reply("One."), Reply("Two.")]) as server:
        more = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "sk-test-1"}
        assert cub("code", "-p", "First?", **more).out == "One.\n"
        assert cub("code", "-c", "-p", "Second?", **more).out == "Two.\n"
        _, request = server.requests
    assert request.texts[-2:] == ("First?", "Second?")
    assert [one["role"] for one in request.body["messages"]] == ["user", "assistant", "user"]


def test_a_resumed_session_has_read_no_file(code: Code, project: Path) -> None:
    edit = ("--permissions", "accept-edits")
    assert code("-p", "Read it.", *edit).code == 0
    (project / "AGENTS.md").write_text("Speak softly.\n", encoding="utf-8")
    done = code("-p", "Edit it.", "--continue", *edit)
    assert "it was not read yet: use Read first" in done.err
    assert (project / "price.py").read_text() == "PRICE = 1\n"


@pytest.mark.parametrize("words", [("--no-save",), ("--trust",)], ids=["option", "setting"])
def test_a_session_may_stay_unsaved(
    code: Code, cub: Cub, project: Path, home: Path, words: tuple[str, ...]
) -> None:
    if words == ("--trust",):
        (project / ".cub").mkdir()
        (project / ".cub/config.yaml").write_text("code: {session_days: 0}\n", encoding="utf-8")
    done = code("-p", "Read it.", "--output-format", "json", *words)
    assert (done.code, json.loads(done.out)["session"]) == (0, None)
    assert list_rows(cub) == []
    assert not (home / ".local/share/cub/sessions").exists()
    done = code("-p", "Read it.", "--output-format", "stream-json", *words)
    assert json.loads(done.out.splitlines()[0])["id"]


def test_a_repository_deletes_no_sessions_unless_it_is_trusted(code: Code, project: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub/config.yaml").write_text("code: {session_days: 1}\n", encoding="utf-8")
    done = code("-p", "Read it.")
    assert (done.code, "code.session_days" in done.err) == (1, True)


def test_old_sessions_are_deleted_when_another_one_starts(code: Code, cub: Cub, home: Path) -> None:
    code("-p", "Read it.")
    (path,) = (home / ".local/share/cub/sessions").glob("*/*.jsonl")
    then = path.stat().st_mtime - 31 * 86_400
    os.utime(path, (then, then))
    code("-p", "Sure?")
    assert [row["prompt"] for row in list_rows(cub)] == ["Sure?"]


def test_where_no_session_can_be_saved_it_runs_with_a_warning(code: Code, home: Path) -> None:
    (home / ".local").mkdir()
    (home / ".local/share").write_text("a file\n", encoding="utf-8")
    done = code("-p", "Read it.")
    assert (done.code, done.out) == (0, "It is ``1``.\n")
    assert "the session is not saved: cannot be written: " in done.err


@pytest.mark.parametrize(
    ("words", "expected", "message"),
    [
        (("--continue",), 1, "error: no session of this project is saved"),
        (("--resume", "x"), 1, "error: there is no session 'x'"),
        (("--resume",), 1, "error: no session of this project is saved"),
        (("--continue", "--resume", "x"), 2, "error: --continue cannot be used with --resume"),
        (("--continue", "--no-save"), 2, "error: --continue cannot be used with --no-save"),
        (("sessions", "show", "x"), 1, "error: there is no session 'x'"),
        (("sessions", "delete", "x"), 1, "error: there is no session 'x'"),
        (("sessions", "shaw"), 2, "error: unknown command 'shaw'"),
        (("fix it",), 2, "error: unexpected argument 'fix it'"),
    ],
)
def test_what_is_wrong_is_told(
    code: Code, words: tuple[str, ...], expected: int, message: str
) -> None:
    done = code("-p", "Go.", *words)
    assert done.code == expected
    assert done.err.startswith(message), done.err


def test_without_an_id_and_a_terminal_the_sessions_are_named(code: Code) -> None:
    key = json.loads(code("-p", "Read it.", "--output-format", "json").out)["session"]
    done = code("--resume", "-p", "Sure?")
    assert done.code == 2
    assert done.err.splitlines()[0] == "error: --resume needs an ID, but stdin is not a terminal"
    assert f"{key}  just now  Read it." in done.err


def test_a_person_chooses_at_the_terminal(code: Code, project: Path, home: Path) -> None:
    for prompt in ("Read it.", "Sure?"):
        assert code("-p", prompt).code == 0
    words = ("code", "--model", "scripted/replies.yaml", "-p", "And?", "--resume")
    shown = in_terminal(*words, cwd=project, home=home, answer="2\n", at="Which session?")
    assert shown.code == 0
    assert "2  just now  Read it." in shown.text
    rows = list_rows(lambda *w, **_: code(*w[1:]))
    assert [(row["prompt"], row["turns"]) for row in rows] == [("Read it.", 3), ("Sure?", 1)]


def test_the_list_says_when_what_and_for_how_much(code: Code, cub: Cub) -> None:
    assert cub("code", "sessions").err == "No sessions of this project yet.\n"
    code("-p", "Read it.\nThen say so. " + "Please. " * 20)
    header, row = cub("code", "sessions", "list").out.splitlines()
    assert header.split("  ")[0] == "id"
    assert row.split("  ", 1)[1].startswith("just now     2      not known  Read it. Then say so.")


def test_in_a_moved_project_the_list_says_where_its_sessions_are(
    code: Code, cub: Cub, project: Path, home: Path
) -> None:
    code("-p", "Read it.")
    (project.parent / "new").mkdir()
    moved = project.rename(project.parent / "new" / project.name)
    listed = cub("code", "sessions", cwd=moved)
    start = f"No sessions of this project yet. (hint: if {project} was moved here, move its"
    assert listed.err.startswith(start)
    places = [
        Path(word.rstrip(")\n")) for word in listed.err.split(" ") if word.startswith(f"{home}")
    ]
    places[0].rename(places[1])
    assert "Read it." in cub("code", "sessions", cwd=moved).out


def test_a_session_is_shown_as_markdown(code: Code, cub: Cub) -> None:
    done = code("-p", "Read it.", "--output-format", "json")
    key = json.loads(done.out)["session"]
    shown = cub("code", "sessions", "show", key[:4])
    assert shown.code == 0
    head, _, body = shown.out.partition("\n## User\n")
    assert head.startswith(f"# Read it.\n\n- Session: {key}\n- Project: ")
    assert body == (
        "\nRead it.\n\n## Assistant\n\n### Read\n\n"
        '```json\n{\n  "file_path": "price.py"\n}\n```\n\n'
        "### Result of Read\n\n```\n1\tPRICE = 1\n```\n\n## Assistant\n\nIt is ``1``.\n"
    )


def test_a_session_is_shown_as_json(code: Code, cub: Cub) -> None:
    code("-p", "Read it.")
    (row,) = list_rows(cub)
    tree = json.loads(cub("code", "sessions", "show", row["id"], "--json").out)
    assert fault("session", tree) == ""
    assert tree["session"] == row
    assert [one["role"] for one in tree["messages"]] == ["user", "assistant", "user", "assistant"]


def test_sessions_are_deleted(code: Code, cub: Cub) -> None:
    for prompt in ("One?", "Two?", "Three?"):
        code("-p", prompt)
    three, two, one = (row["id"] for row in list_rows(cub))
    done = cub("code", "sessions", "delete", one)
    assert (done.code, "pass --yes" in done.err) == (2, True)
    assert cub("code", "sessions", "delete", one, "--yes").out == f"Deleted {one}\n"
    done = cub("code", "sessions", "delete", two, three, two, "--yes", "--json")
    tree = json.loads(done.out)
    assert tree["deleted"] == [two, three]
    assert list_rows(cub) == []


def test_a_session_of_a_newer_cub_is_not_left_out_silently(code: Code, home: Path) -> None:
    first = json.loads(code("-p", "Read it.", "--output-format", "json").out)["session"]
    (path,) = (home / ".local/share/cub/sessions").glob("*/*.jsonl")
    newer = path.with_name("zzz.jsonl")
    newer.write_bytes(path.read_bytes().replace(b'"v":1', b'"v":9'))
    said = (
        f"warning: {newer.as_posix()}: this was saved by a newer cub (format 9, this cub knows 1)"
    )
    done = code("-p", "Sure?", "--continue", "--output-format", "stream-json")
    assert json.loads(done.out.splitlines()[0]) == {"type": "session", "id": first}
    assert said in done.err
    assert said in code("-p", "Sure?", "--resume").err
    path.unlink()
    done = code("-p", "Sure?", "--continue")
    assert (done.code, said in done.err) == (1, True)


def test_no_secret_is_in_the_file(code: Code, home: Path) -> None:
    key = "sk-ant-api03-" + "aB3dE5gH7" * 11 + "AA"
    code("-p", f"Use {key}.")
    (path,) = (home / ".local/share/cub/sessions").glob("*/*.jsonl")
    assert key not in path.read_text()
    assert "Use [masked]." in path.read_text()
