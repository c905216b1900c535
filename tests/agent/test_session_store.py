"""Sessions are saved while they run, and found, resumed and deleted by their ids."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cub.agent.context_window import SessionLimits
from cub.agent.conversation import Message, ToolCall, make_user_message
from cub.agent.events import ReplyText, SessionEnd
from cub.agent.loop import AgentSession
from cub.agent.model import ModelError, ReplyEnd
from cub.agent.session_file import SessionSummary, SessionWriter
from cub.agent.session_store import SessionRecorder, SessionStore, find_session_store
from cub.errors import CubError
from cub.tokens import TokenUsage
from tests.agent.doubles import FakeModel, call, echo, make_session, make_tool, make_toolbox, say

DAY = 86_400


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path, tmp_path / "data/sessions/bakery")


def fresh_session(tmp_path: Path, *replies: object, small: FakeModel | None = None) -> AgentSession:
    model = FakeModel(*replies)  # type: ignore[arg-type]
    limits = SessionLimits(1_000, 400 if small else 160_000)
    return make_session(make_toolbox(tmp_path, [make_tool("Echo", echo)]), model, small, limits)


def work(recorder: SessionRecorder, prompt: str) -> None:
    """Work on a prompt to the end, and let others resume the session."""
    list(recorder.record(recorder.session.work_on(prompt)))
    recorder.close()


def start(store: SessionStore, *replies: object, prompt: str = "Bake.") -> SessionRecorder:
    recorder = store.start(fresh_session(store.root, *replies), "src", prompt)
    work(recorder, prompt)
    return recorder


def test_a_resumed_session_knows_what_was_said(store: SessionStore) -> None:
    usage = ReplyEnd("end_turn", TokenUsage(100, 10))
    first = start(store, call(("Echo", "hi")), say("Done.", usage))
    session = fresh_session(store.root, say("Again.", usage))
    second = store.resume(session, first.session_id)
    work(second, "And now?")
    (request,) = session.model.requests  # type: ignore[attr-defined]
    assert list(request.messages[:-1]) == first.session.messages
    assert request.messages[-1] == make_user_message("And now?")
    saved = store.read(first.session_id)
    assert saved.messages == session.messages
    assert saved.summary.model == session.model.name
    assert (saved.summary.prompt, saved.summary.folder) == ("Bake.", "src")
    assert (saved.summary.turns, saved.summary.tokens.input, saved.damaged) == (3, 200, [])


def test_what_a_turn_did_is_saved_before_the_next_one(store: SessionStore) -> None:
    seen = list[int]()

    def look() -> None:
        seen.append(len(store.read(recorder.session_id).messages))

    replies = [call(("Echo", "a")), [look, *call(("Echo", "b"))], [look, *say("Done.")]]
    recorder = store.start(fresh_session(store.root, *replies), "", "Go.")
    work(recorder, "Go.")
    assert seen == [3, 5]


def test_a_prompt_is_saved_with_the_first_word_of_its_answer(store: SessionStore) -> None:
    recorder = store.start(fresh_session(store.root, say("One.")), "", "Go.")
    events = recorder.record(recorder.session.work_on("Go."))
    next(events)
    assert store.read(recorder.session_id).messages == [make_user_message("Go.")]
    list(events)
    recorder.close()


def test_a_session_that_is_dropped_keeps_its_turns(store: SessionStore) -> None:
    session = fresh_session(store.root, call(("Echo", "a")), say("Never."))
    recorder = store.start(session, "", "Go.")
    for event in recorder.record(session.work_on("Go.")):
        if isinstance(event, ReplyText):
            break
    recorder.close()
    assert len(store.read(recorder.session_id).messages) == 3


def test_a_failure_is_saved_as_the_session_is_left(store: SessionStore) -> None:
    recorder = start(store, call(("Echo", "a")), [ModelError("no", "request", status=400)])
    assert store.read(recorder.session_id).messages == recorder.session.messages


def test_a_call_without_its_result_gets_one_when_the_session_is_resumed(
    store: SessionStore,
) -> None:
    recorder = store.start(fresh_session(store.root), "", "Go.")
    message = Message("assistant", (ToolCall("c", "Echo", {"word": "a"}),))
    recorder.writer.save([make_user_message("Go."), message], recorder.base)
    recorder.close()
    session = fresh_session(store.root, say("Done."))
    work(store.resume(session, recorder.session_id), "Go on.")
    (request,) = session.model.requests  # type: ignore[attr-defined]
    assert [one.call_id for one in request.messages[2].results] == ["c"]
    assert store.read(recorder.session_id).messages == session.messages


def test_a_summary_replaces_what_it_sums_up(store: SessionStore) -> None:
    replies = [call(("Echo", f"{n}" * 100)) for n in range(9)]
    small = FakeModel(*[say("A summary.")] * 9)
    session = fresh_session(store.root, *replies, say("Done."), small=small)
    recorder = store.start(session, "", "Go.")
    work(recorder, "Go.")
    assert "A summary." in session.messages[0].text
    assert store.read(recorder.session_id).messages == session.messages


def test_a_session_without_an_answer_leaves_its_prompt(store: SessionStore) -> None:
    recorder = start(store, [ModelError("no", "login", status=401)])
    (row,), _ = store.list_sessions()
    assert (row.id, row.prompt, row.turns) == (recorder.session_id, "Bake.", 0)


def test_nothing_is_saved_of_a_session_that_did_not_begin(store: SessionStore) -> None:
    store.start(fresh_session(store.root), "", "Go.").close()
    assert store.list_sessions() == ([], [])


def test_only_its_user_can_read_it(store: SessionStore) -> None:
    recorder = start(store, say("Done."))
    assert stat.S_IMODE(recorder.writer.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_where_nothing_can_be_saved_the_session_goes_on(store: SessionStore) -> None:
    session, told = fresh_session(store.root, say("One."), say("Two.")), list[str]()
    recorder = store.start(session, "", "Go.")
    recorder.warn = told.append
    work(recorder, "Go.")
    recorder.writer.path.unlink()
    recorder = store.start(session, "", "Go.")
    recorder.warn = told.append
    events = recorder.record(session.work_on("And?"))
    next(events)
    recorder.writer.path.unlink()
    assert isinstance(list(events)[-1], SessionEnd)
    recorder.close()
    assert told == ["the session cannot be saved: it was deleted"]


def test_sessions_are_listed_by_when_they_were_active(store: SessionStore) -> None:
    first, second = (start(store, say("Done."), prompt=prompt) for prompt in ("One.", "Two."))
    work(store.resume(fresh_session(store.root, say("Yes.")), first.session_id), "And?")
    rows, warnings = store.list_sessions()
    assert [row.prompt for row in rows] == ["One.", "Two."]
    assert [row.turns for row in rows] == [2, 1]
    assert store.find_last_id() == first.session_id
    assert warnings == []
    assert second.session_id != first.session_id


def test_other_files_are_left_out_with_a_warning(store: SessionStore) -> None:
    start(store, say("Done."))
    (store.folder / "junk.jsonl").write_text("{}\n")
    (store.folder / "notes.txt").write_text("mine\n")
    (store.folder / "full-disk.jsonl").touch()
    (store.folder / "folder.jsonl").mkdir()
    rows, warnings = store.list_sessions()
    assert len(rows) == 1
    assert {Path(warning.path).name: (warning.message, warning.hint) for warning in warnings} == {
        "junk.jsonl": ("this is not a saved session", "`cub code sessions delete junk` deletes it"),
        "folder.jsonl": ("cannot be read: is a directory", ""),
    }
    with pytest.raises(CubError, match="cannot be resumed: nothing is saved in it"):
        store.resume(fresh_session(store.root), "full-disk")


def add(store: SessionStore, session_id: str) -> Path:
    store.folder.mkdir(parents=True, exist_ok=True)
    writer = SessionWriter(store.folder / f"{session_id}.jsonl")
    writer.save([make_user_message("Go.")], SessionSummary(session_id, store.root.as_posix()))
    writer.close()
    return writer.path


def test_the_start_of_an_id_is_enough(store: SessionStore) -> None:
    for session_id in ("abc1", "abd2", "abd22"):
        add(store, session_id)
    assert store.find_id("abc") == "abc1"
    assert store.find_id("ABD2") == "abd2"
    with pytest.raises(CubError, match=r"'ab' matches 3 sessions: abc1, abd2, abd22"):
        store.find_id("ab")
    for text in ("", "x", "../abc1"):
        with pytest.raises(CubError, match="there is no session"):
            store.find_id(text)
    with pytest.raises(CubError) as caught:
        store.find_id("acb1")
    assert caught.value.hint == "`cub code sessions` lists them"


def test_an_id_of_another_project_says_where_it_is(store: SessionStore, tmp_path: Path) -> None:
    cafe = SessionStore(tmp_path / "cafe", store.folder.parent / "cafe")
    path = add(cafe, "xyz1")
    cafe.root.mkdir()
    with pytest.raises(CubError) as caught:
        store.find_id("xy")
    assert caught.value.hint == f"it is one of {cafe.root}: run cub there, or with -C"
    cafe.root.rename(store.root / "moved")
    places = f"from {path.parent} to {store.folder}"
    with pytest.raises(CubError) as caught:
        store.find_id("xy")
    assert caught.value.hint == f"if {cafe.root} was moved here, move its sessions {places}"


def test_a_moved_project_says_where_its_sessions_are(tmp_path: Path) -> None:
    add(SessionStore(tmp_path / "old/cafe", tmp_path / "data/a"), "xyz1")
    store = SessionStore(tmp_path / "new/cafe", tmp_path / "data/b")
    with pytest.raises(CubError, match="no session of this project is saved") as caught:
        store.find_last_id()
    assert f"move its sessions from {tmp_path}/data/a to {tmp_path}/data/b" in caught.value.hint
    (tmp_path / "data/a").rename(store.folder)
    assert store.find_last_id() == "xyz1"
    recorder = store.resume(fresh_session(store.root, say("Yes.")), "xyz1")
    work(recorder, "Go on.")
    assert store.list_sessions()[0][0].root == store.root.as_posix()


def test_there_may_be_no_last_session(store: SessionStore) -> None:
    with pytest.raises(CubError, match="no session of this project is saved"):
        store.find_last_id()


def test_a_session_that_runs_is_not_resumed_or_deleted(store: SessionStore) -> None:
    running = store.start(fresh_session(store.root, say("Done.")), "", "Go.")
    events = running.record(running.session.work_on("Go."))
    next(events)
    for use in (store.delete, lambda key: store.resume(fresh_session(store.root), key)):
        with pytest.raises(CubError, match="is open in another process, and cannot be") as caught:
            use(running.session_id)
        assert caught.value.hint == "close it there first, or choose another one"
    list(events)
    running.close()
    store.delete(running.session_id)
    assert store.list_sessions() == ([], [])


def test_what_was_not_used_for_long_is_deleted_in_all_projects(
    store: SessionStore, tmp_path: Path
) -> None:
    cafe = SessionStore(tmp_path / "cafe", store.folder.parent / "cafe")
    old, new, other = add(store, "old1"), add(store, "new1"), add(cafe, "old2")
    notes = store.folder / "notes.txt"
    notes.write_text("mine\n")
    for path in (old, other, notes):
        age(path, 31)
    age(new, 29)
    store.delete_old(30)
    assert sorted(store.folder.iterdir()) == [new, notes]
    assert list(cafe.folder.iterdir()) == []


def age(path: Path, days: int) -> None:
    then = path.stat().st_mtime - days * DAY
    os.utime(path, (then, then))


def test_a_project_has_a_folder_of_its_own_in_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to("project")
    store = find_session_store(tmp_path / "project")
    assert store.folder.parent == tmp_path / "data/cub/sessions"
    assert find_session_store(tmp_path / "link").folder == store.folder
    assert find_session_store(tmp_path).folder != store.folder


def test_what_is_used_after_the_last_message_counts(store: SessionStore) -> None:
    recorder = start(store, say("Done."))
    recorder = store.resume(fresh_session(store.root), recorder.session_id)
    size = recorder.writer.path.stat().st_size
    recorder.save()
    assert recorder.writer.path.stat().st_size == size
    recorder.session.budget.add_cost(TokenUsage(5, 5), 0.5)  # as by judges of the gate
    recorder.save()
    recorder.close()
    assert store.list_sessions()[0][0].tokens == TokenUsage(5, 5)
