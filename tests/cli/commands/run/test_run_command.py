"""`cub run` as a process: exit codes, what is printed, signals, two at a time."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_status import read_status
from cub.files.signed_state import find_project_state
from tests.actions.helpers import put_programs
from tests.actions.run.shop import CHECK, Shop, surroundings
from tests.cli.commands.run.started import WAIT, start_run, started
from tests.cli.terminal import in_terminal
from tests.command_line import Result
from tests.conftest import Cub, git
from tests.fork_server import start_cub
from tests.git.checkouts import state

WRITE = 'cat > /dev/null; echo "$CUB_TASK" > "$CUB_TASK.txt"'


@pytest.fixture
def ready(bakery: Shop) -> Shop:
    bakery.client(WRITE)
    bakery.task()
    return bakery


def test_all_done_is_exit_0_and_lines_tell_it(ready: Shop, cub: Cub) -> None:
    done = cub("run", "--trust", "--check", CHECK)
    assert done.code == 0, done.err
    changing = r"\d{8}-\d{6}-\w{4}|\d\d:\d\d:\d\d|\d+\.\d s|\b[0-9a-f]{7,8}\b"
    assert re.sub(changing, "…", done.out) == (
        "Run … with mine (auto: configured in .cub/config.yaml)\n"
        f"{done.out.splitlines()[1]}\n"  # which kind of place this system allows
        f"  check before the attempt: {CHECK} passed (…)\n"
        "\n"
        "… s-1: Do s-1\n"
        f"  check: {CHECK} passed (…)\n"
        "  ok: 1 file +1 -0, commit … (…, usage not reported)\n"
        "  s-1 is closed\n"
        "\n"
        "Done: no ready tasks left. 1 closed.\n"
        "1 attempt, usage not reported\n"
        "\n"
        "1 commit:\n"
        "  … task(s-1): Do s-1\n"
    )
    assert done.err == ""
    status = cub("run", "status").out
    assert status.partition("\n")[2] == done.out[done.out.index("Done: ") :]
    assert ready.status() == "closed"


def test_nothing_ready_changes_no_file(bakery: Shop, cub: Cub) -> None:
    bakery.client("true")
    before = state(bakery.root)
    done = cub("run", "--trust")
    assert (done.code, done.out) == (
        0, 'Nothing is ready.\nhint: to add a task, run `cub task add "…"`\n',
    )  # fmt: skip
    bakery.task(depends_on=["s-9"])
    (event,) = map(json.loads, cub("run", "--json").out.splitlines())
    assert (event["end"], event["ok"]) == ("nothing_ready", True)
    assert event["hint"] == "run `cub task list` to see what the open tasks wait for"
    after = state(bakery.root)
    assert set(after) - set(before) == {".cub/tasks.jsonl"}
    assert not list((find_project_state(bakery.root) / "runs").glob("*"))


def test_no_task_is_said_before_no_agent(bakery: Shop, cub: Cub) -> None:
    bakery.client("true", argv=["no-such-agent"])
    for words in (("run", "--trust"), ("run", "--trust", "--dry-run")):
        done = cub(*words)
        text = done.out + done.err
        hint, agent = (text.index(part) for part in ('run `cub task add "…"`', "can't be started"))
        assert 0 <= text.index("Nothing is ready.") < hint < agent
        assert "no-such-agent" in text[agent:]


def test_a_repository_without_a_commit_is_refused_by_the_preview_as_well(
    project: Path, home: Path, cub: Cub
) -> None:
    shop = Shop(project, surroundings(home))
    shop.client("true")
    shop.task()
    done = cub("run", "--dry-run", "--trust", "--no-checks")
    assert done.code == 1
    text = 'the repository has no commit yet (hint: git add . && git commit -m "Start")'
    assert f"This run would be refused: {text}." in done.err


def test_each_of_several_tasks_says_which_it_is(bakery: Shop, cub: Cub) -> None:
    bakery.client("cat > /dev/null; echo x > $CUB_TASK.txt")
    bakery.task()
    bakery.task("s-2", depends_on=["s-1"])
    bakery.task("s-3", status="parked")
    bakery.task("s-4", depends_on=["s-3"])
    out = cub("run", "--trust", "--no-checks").out
    assert re.findall(r"task \d of \d: s-\d", out) == ["task 1 of 2: s-1", "task 2 of 2: s-2"]


def test_what_no_task_has_is_an_error(bakery: Shop, cub: Cub) -> None:
    bakery.task(labels=["bread"])
    errors = {
        ("run", "--epic", "s-1"): 's-1 is not an epic\nhint: to add one, run `cub task add "…"',
        ("task", "list", "--epic", "s-1"): "s-1 is not an epic",
        ("run", "--epic", "s-8"): "no task",
        ("run", "--task", "s-8"): "no task",
        ("run", "--label", "breed"): "no task has the label 'breed'\nhint: did you mean bread?",
        ("run", "--label", "x"): "no task has the label 'x'\nhint: choose from bread",
        ("run", "--epic", ""): "empty",
        ("task", "list", "--epic", ""): "empty",
        ("task", "list", "--label", ""): "empty",
    }
    bakery.configure(run={"harness": "scripted"})
    for words, text in errors.items():
        done = cub(*words)
        said = done.err.replace("there is no task", "no task")
        assert (done.code > 0, text in said) == (True, True), (words, said)
    bakery.task("s-2", issue_type="epic")
    assert "hint: choose from s-2" in cub("run", "--epic", "s-1").err


def test_only_what_deletes_the_stores_is_refused_during_a_run(bakery: Shop, cub: Cub) -> None:
    assert cub("init", "-y").code == 0
    bakery.client(WAIT)
    bakery.task()
    bakery.commit("init")
    run = started(bakery)
    try:
        done = cub("remove", "--purge", "--yes")
        assert done.code == 1
        assert re.search(
            r"^error: a run is in progress \(\d{8}-\S+, PID \d+\)$", done.err, re.MULTILINE
        )
        assert "hint: `cub run status` shows it; wait" in done.err
        for words in ("config set map.tokens 900", "init -y", "update", "map", "remove"):
            assert cub(*words.split()).code == 0, words
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate()


def test_a_failure_is_exit_1(bakery: Shop, cub: Cub) -> None:
    bakery.client("cat > /dev/null; exit 3")
    bakery.task()
    done = cub("run", "--trust", "--no-checks", "--once")
    assert done.code == 1
    assert "harness_exit: exit code 3" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("--timeout", "soon"),
        ("--harness", "nobody"),
        ("--max-iterations", "0"),
    ],
)
def test_wrong_words_are_exit_2_and_nothing_is_done(
    ready: Shop, cub: Cub, words: tuple[str, ...]
) -> None:
    done = cub("run", "--trust", *words)
    assert done.code == 2, done.out
    assert done.err.startswith("error: ")
    assert ready.status() == "open"
    assert not (ready.cub / "runs").exists()


def test_what_is_not_trusted_does_not_run(ready: Shop, cub: Cub) -> None:
    refused = cub("run", "--no-checks")
    assert refused.code == 1
    assert "harnesses.mine" in refused.err
    assert "cub trust" in refused.err
    assert not ready.ledger()
    trusted = cub("trust")
    assert (trusted.code, "harnesses.mine" in trusted.out) == (0, True)
    assert cub("run", "--no-checks").code == 0
    assert cub("trust", "--revoke").code == 0
    ready.task("s-2")
    assert cub("run", "--no-checks").code == 1


@pytest.mark.usefixtures("ready")
def test_events_are_lines_of_json(cub: Cub) -> None:
    done = cub("run", "--trust", "--json", "--check", CHECK)
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["ev"] for event in events if event["ev"] not in ("client", "notice")] == [
        "run_start", "check_start", "check_end", "attempt_start", "check_start", "check_end",
        "attempt_end", "task_state", "run_end",
    ]  # fmt: skip
    assert all(event["v"] == 1 and event["ts"] for event in events)
    assert events[-1]["end"] == "done"


def test_a_dry_run_shows_the_queue_and_does_nothing(ready: Shop, cub: Cub) -> None:
    before = sorted(ready.cub.iterdir())
    done = cub("run", "--dry-run", "--trust", "--check", "make test")
    assert done == Result(
        0,
        "agent: mine (auto: configured in .cub/config.yaml)\ncheck: make test\ntask: s-1: Do s-1\n",
        "",
    )
    assert sorted(ready.cub.iterdir()) == before


def test_a_text_is_a_new_task_and_the_run_works_on_it_alone(ready: Shop, cub: Cub) -> None:
    ready.task("s-e", issue_type="epic")
    text = "Sell the bread\n\nAt noon."
    run = ("run", "--trust", "--check", CHECK)
    done = cub(*run, text, "Sweep the floor", "--epic", "s-e")
    assert done.code == 0, done.err
    tasks = ready.tasks()
    one, two = (tasks.read_record(f"s-e.{number}") for number in (1, 2))
    assert (one["title"], one["description"]) == ("Sell the bread", "At noon.")
    assert (two["title"], one["parent"]) == ("Sweep the floor", "s-e")
    assert (one["status"], two["status"]) == ("closed", "closed")
    assert ready.status() == "open"
    assert done.out.index("Sell the bread") < done.out.index("Sweep the floor")


def test_a_first_task_needs_no_other(bakery: Shop, cub: Cub) -> None:
    bakery.client(WRITE)
    git(bakery.root, "add", ".")
    git(bakery.root, "commit", "-qm", "Configure")
    done = cub("run", "--trust", "--check", CHECK, "--once", "Sell the bread")
    assert done.code == 0, done.err
    (task,) = bakery.tasks()
    assert task.is_done


def test_the_tests_of_the_project_decide_on_a_first_task(bakery: Shop, cub: Cub) -> None:
    bakery.client(WRITE)
    bakery.write("pyproject.toml", '[project]\nname = "oven"\n[tool.pytest.ini_options]\n')
    git(bakery.root, "add", ".")
    git(bakery.root, "commit", "-qm", "Configure")
    programs = put_programs(bakery.root.parent / "bin", "python", script="echo 1 passed in 0.01s")
    path = f"{programs}{os.pathsep}{bakery.environ['PATH']}"
    shown = cub("run", "--trust", "--dry-run", "Sell the bread", PATH=path).out
    assert "check: python -m pytest, from pyproject.toml" in shown
    done = cub("run", "--trust", "Sell the bread", PATH=path)
    assert done.code == 0, done.err
    (end,) = bakery.ledger("attempt_end")
    assert (end["ok"], [check["cmd"] for check in end["checks"]]) == (True, ["python -m pytest"])


def test_one_word_is_a_task_or_a_slip(ready: Shop, cub: Cub) -> None:
    ready.task("s-2")
    assert cub("run", "s-2", "--trust", "--check", CHECK).code == 0
    assert (ready.status(), ready.status("s-2")) == ("open", "closed")
    before = state(ready.root)
    for words, code, said in [
        (("s-3",), 1, "error: there is no task 's-3'\nhint: did you mean s-2"),
        (("stauts",), 2, "error: unknown command 'stauts'; did you mean 'status'?\n"),
        (("sell", "bread"), 2, "error: unexpected arguments 'sell bread'\nhint: quote the text: "),
        (("",), 2, "error: the task is empty\n"),
        (("Sell bread", " "), 2, "error: the task is empty\n"),
        (("Sell bread", "--task", "s-1"), 2, "error: --task cannot be used with a new task\n"),
        (("Sell bread", "--resume"), 2, "error: --resume cannot be used with a task\n"),
        (("Sell bread", "--epic", "s-1"), 1, "error: s-1 is not an epic\n"),
    ]:
        done = cub("run", *words)
        assert (done.code, done.out, done.err[: len(said)]) == (code, "", said)
    assert state(ready.root) == before


@pytest.mark.parametrize("options", [(), ("--check", "no-such-program"), ("--harness", "gone")])
def test_a_refused_run_adds_no_task(ready: Shop, cub: Cub, options: tuple[str, ...]) -> None:
    before = (ready.cub / "tasks.jsonl").read_bytes()
    done = cub("run", "Sell the bread", "--trust", *options)
    assert done.code in (1, 2)
    assert (ready.cub / "tasks.jsonl").read_bytes() == before


def test_a_dry_run_names_the_task_that_it_would_add(ready: Shop, cub: Cub) -> None:
    before = sorted(ready.cub.iterdir())
    done = cub("run", "Sell the bread", "--dry-run", "--trust", "--check", CHECK)
    assert (done.code, done.out.splitlines()[-1]) == (0, "would add: Sell the bread")
    tree = json.loads(cub("run", "--json", "Sell it now", "--dry-run", "--check", CHECK).out)
    assert (tree["new_tasks"], tree["tasks"]) == (["Sell it now"], [])
    assert sorted(ready.cub.iterdir()) == before
    assert len(ready.tasks()) == 1


def test_context_commands_are_shown_and_not_run(ready: Shop, cub: Cub) -> None:
    ready.configure(context_commands=[{"name": "Made", "command": "touch made"}])
    words = ("run", "--dry-run", "--trust", "--check", "true", "--exec", "touch too")
    lines = cub(*words).out.splitlines()
    assert lines[2:4] == [
        "context command: touch made (Made, .cub/config.yaml:1)",
        "context command: touch too (CLI Command 1, --exec)",
    ]
    shown = json.loads(cub(*words, "--json", "--no-context-exec").out)["context_commands"]
    assert shown == [{"name": "CLI Command 1", "command": "touch too", "origin": "--exec"}]
    assert not (ready.root / "made").exists()
    assert not (ready.root / "too").exists()


def test_a_confirmation_needs_a_person(ready: Shop, cub: Cub) -> None:
    words = ("run", "--trust", "--no-checks", "--confirm-context-exec")
    refused = cub(*words, "--exec", "touch made")
    assert (refused.code, refused.out) == (1, "")
    assert "stdin is not a terminal" in refused.err
    assert (ready.status(), ready.ledger()) == ("open", [])
    assert cub(*words).code == 0


@pytest.mark.parametrize(
    ("answer", "code"), [("n\n", 1), pytest.param("y\n", 0, marks=pytest.mark.thorough)]
)
def test_a_person_sees_the_commands_and_decides(
    ready: Shop, home: Path, answer: str, code: int
) -> None:
    words = ("run", "--trust", "--no-checks", "--confirm-context-exec", "--exec", "echo made")
    screen = in_terminal(*words, cwd=ready.root, home=home, answer=answer, at="Run this command?")
    assert "CLI Command 1 (--exec): echo made" in screen.text
    assert screen.code == code
    assert ("no context command ran" in screen.text) is (answer == "n\n")
    prompts = [path.read_text() for path in ready.cub.glob("runs/*/s-1/1/prompt.md")]
    assert ["\nmade\n" in prompt for prompt in prompts] == [True] * (code == 0)


@pytest.mark.parametrize("words", [(), ("--trust", "--harness", "gone")])
def test_a_dry_run_of_what_would_be_refused_is_1(
    ready: Shop, cub: Cub, words: tuple[str, ...]
) -> None:
    known = json.loads((ready.cub / "config.yaml").read_text())["harnesses"]
    ready.configure(harnesses={**known, "gone": {"argv": ["no-such-agent"]}})
    done = cub("run", "--dry-run", *words)
    assert (done.code, "task: s-1: Do s-1\n" in done.out) == (1, True)
    assert "This run would be refused: " in done.err
    shown = cub("run", "--dry-run", "--json", *words)
    tree = json.loads(shown.out)
    assert (shown.code, tree["tasks"], tree["trusted"]) == (1, ["s-1"], bool(words))


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_without_git_nothing_begins(ready: Shop, cub: Cub, words: tuple[str, ...]) -> None:
    shutil.rmtree(ready.root / ".git")
    result = cub("run", "--trust", *words)
    assert (result.code, result.out) == (1, "")
    expected = "error: this directory is not in a git repository\nhint: run `git init` first\n"
    assert result.err == expected
    assert cub("run", "status").out == "No runs yet.\n"
    assert cub("trust").code == 0


def test_a_place_elsewhere_whose_checks_use_the_checkout_is_refused_in_advance(
    ready: Shop, cub: Cub
) -> None:
    run = json.loads((ready.cub / "config.yaml").read_text()).get("run", {})
    ready.configure(run={**run, "place": "aside"})
    words = ("run", "--trust", "--check", f"ls {ready.root}/kept.txt")
    start = f"the check `ls {ready.root}/kept.txt` leads to {ready.root}/kept.txt, so checks"
    for more, what in (("--dry-run",), "This run would be refused: "), ((), "error: "):
        done = cub(*words, *more)
        assert (done.code, f"{what}{start}" in " ".join(done.err.split())) == (1, True), done


@pytest.mark.usefixtures("ready")
def test_a_status_tells_how_it_ended(cub: Cub) -> None:
    assert cub("run", "status").out == "No runs yet.\n"
    cub("run", "--trust", "--no-checks")
    heading = r"\d{8}-\d{6}-\w{4}: ended 20\d\d-\d\d-\d\d \d\d:\d\d \([\w ]+\): done\n"
    assert re.match(heading, cub("run", "status").out)
    (run,) = json.loads(cub("run", "status", "--json").out)["runs"]
    assert (run["alive"], run["ended"], run["outcomes"]) == (False, "done", {"ok": 1})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_client_and_the_bookkeeping(
    bakery: Shop, number: signal.Signals
) -> None:
    bakery.client(WAIT)
    bakery.task()
    run = started(bakery)
    run.send_signal(number)
    out, err = run.communicate()
    assert (run.returncode, err) == (130, "")
    end = json.loads(out.splitlines()[-1])
    assert (end["ev"], end["end"]) == ("run_end", "interrupted")
    assert run.is_client_gone()
    assert bakery.status() == "open"
    assert not bakery.dirt()
    (event,) = bakery.ledger("attempt_end")
    assert event["fail"] == {
        "class": "interrupted", "reason": "the run was stopped", "charge": False,
        "fp": event["fail"]["fp"],
    }  # fmt: skip
    assert "half" in (bakery.root / event["git"]["patch"]).read_text()


def test_a_signal_is_answered_at_once_while_git_is_at_work(bakery: Shop) -> None:
    """A filter holds git up, and so the run, before the client is started."""
    fifo = bakery.root.parent / "fifo"
    os.mkfifo(fifo)
    bakery.write(".gitattributes", "slow.txt filter=slow\n")
    bakery.write("slow.txt", "x\n")
    bakery.client(WRITE)
    bakery.task()
    bakery.commit()
    git(bakery.root, "config", "filter.slow.clean", f"cat > /dev/null; cat {fifo}")
    (bakery.root / "slow.txt").touch()
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb") as stderr, Path(os.devnull).open("r+b") as null:
        run = start_cub(
            ["run", "--trust", "--no-checks"],
            cwd=bakery.root,
            environ=bakery.environ,
            descriptors=(null.fileno(), null.fileno(), writes),
        )
        os.close(writes)
        with run, fifo.open("w"):  # git has come to the filter
            run.send_signal(signal.SIGTERM)
            while b"stopping" not in (said := stderr.readline()):
                assert said
            run.send_signal(signal.SIGTERM)
            assert run.wait(timeout=20) == 130


def test_who_is_to_ignore_a_signal_does(bakery: Shop) -> None:
    bakery.client(WAIT)
    bakery.task()
    run = started(bakery, before=("nohup",))
    run.send_signal(signal.SIGHUP)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate()
    assert json.loads(out.splitlines()[-1])["end"] == "interrupted"
    assert run.returncode == 130


def test_a_second_signal_ends_at_once_and_the_next_run_recovers(bakery: Shop) -> None:
    bakery.client(WAIT.replace("exec sleep", "trap '' INT TERM; while :; do sleep 1; done #"))
    bakery.task()
    run = started(bakery)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)
    run.communicate()
    assert run.returncode == 130
    assert run.is_client_gone()
    bakery.client(WRITE)
    done = bakery.run(no_checks=True)
    assert [event["task"] for event in done.of("recovered")] == ["s-1"]
    assert (done.outcomes, bakery.status()) == (["ok"], "closed")


def test_a_run_that_nobody_reads_any_more_ends_well(bakery: Shop) -> None:
    go = Path(bakery.environ["HOME"]) / "go"
    bakery.client(f'{WRITE}; until test -e "$HOME/go"; do sleep 0.01; done')
    for number in range(3):
        bakery.task(f"s-{number}")
    run = start_run(bakery, "--no-checks")
    while b"s-0" not in (line := run.stdout.readline()):
        assert line
    run.stdout.close()
    go.touch()
    with run.stderr:
        assert run.process.wait(30) == 1
        run.stderr.seek(0)
        assert run.stderr.read() == b""
    (folder,) = RunFolder.list_all(bakery.root)
    assert read_status(folder).ended == "interrupted"
    assert {bakery.status(f"s-{number}") for number in range(3)} <= {"open", "closed"}
    assert not bakery.dirt()


def test_the_status_of_a_run_at_work_shows_its_task(bakery: Shop, cub: Cub) -> None:
    bakery.client(WAIT)
    bakery.task()
    run = started(bakery)
    shown = cub("run", "status").out
    run.send_signal(signal.SIGINT)
    run.communicate()
    assert "running for" in shown
    assert "s-1: Do s-1" in shown


def test_a_second_run_in_a_checkout_is_refused(bakery: Shop, cub: Cub) -> None:
    bakery.client(WAIT)
    bakery.task()
    bakery.task("s-2")
    run = started(bakery)
    refused = cub("run", "--trust", "--no-checks")
    run.send_signal(signal.SIGINT)
    run.communicate()
    assert refused.code == 1
    assert "another run is active in this checkout" in refused.err
