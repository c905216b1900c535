"""Secrets that checks, clients and hooks print: in no event, ledger, prompt, status or commit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.actions.run.run_folders import RunFolder
from cub.actions.run.run_status import read_status
from cub.files.signed_state import find_project_state
from cub.masking import MASK
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.actions.run.shop import Done, Shop
from tests.examples import keep_few
from tests.masking.samples import chance, pem

_LEAST = 12  # signs of a secret in a row that nobody should read


@pytest.fixture
def key(bakery: Shop) -> list[str]:
    """The lines of a private key, which lies where commands can print it."""
    lines = pem()
    (Path(bakery.environ["HOME"]) / "key.pem").write_text("\n".join(lines) + "\n")
    return lines


def _body(lines: list[str]) -> list[str]:
    return [line[at : at + _LEAST] for line in lines[1:-1] for at in range(len(line) - _LEAST + 1)]


def _shown(shop: Shop, done: Done) -> str:
    """All that others read of a run: events, both stores, prompts, how it stands."""
    prompts = [file.read_text() for file in shop.cub.glob("runs/*/*/*/prompt.md")]
    standing = [read_status(folder).to_json() for folder in RunFolder.list_all(shop.root)]
    files = [(shop.root / name).read_text() for name in (LEDGER_FILE, TASKS_FILE)]
    caches = [file.read_text() for file in find_project_state(shop.root).glob("checks/*")]
    return "\n".join([json.dumps(done.events), json.dumps(standing), *files, *prompts, *caches])


def _require_hidden(shop: Shop, done: Done, parts: list[str]) -> None:
    shown = _shown(shop, done)
    assert [part for part in parts if part in shown] == []


@pytest.mark.parametrize(
    "check",
    keep_few(
        [
            "cat ~/key.pem; exit 1",
            "sed 's/^/E   /' ~/key.pem; exit 1",
            "sed 's/^/> /' ~/key.pem; exit 1",
            "cat -n ~/key.pem; echo 'Error: wrong key'; exit 1",
            "tail -n +3 ~/key.pem; exit 1",
            "head -n 20 ~/key.pem; exit 1",
            "tr '\\n' ' ' < ~/key.pem; exit 1",
            pytest.param(
                "yes 'a line' | head -c 499000; cat ~/key.pem; yes more | head -c 600000; exit 1",
                marks=pytest.mark.thorough,
            ),
        ],
        3,
    ),
)
def test_a_key_that_a_check_prints_is_nowhere(bakery: Shop, key: list[str], check: str) -> None:
    done = bakery.run_agent(
        "echo x >> kept.txt", checks=f"! grep x kept.txt || {{ {check}; }}", iterations=2
    )
    assert done.outcomes == ["checks_failed", "checks_failed"]
    _require_hidden(bakery, done, _body(key))


def test_what_stands_around_a_key_is_told(bakery: Shop, key: list[str]) -> None:
    check = "! grep x kept.txt || { echo 'Error: no oven'; cat ~/key.pem; echo end; exit 1; }"
    done = bakery.run_agent("echo x >> kept.txt", checks=check, once=True)
    tail = done.of("attempt_end")[0]["checks"][0]["tail"]
    assert tail.endswith(f"Error: no oven\n{MASK}\nend")
    _require_hidden(bakery, done, _body(key))


def test_the_log_of_the_checks_has_all_of_it(bakery: Shop, key: list[str]) -> None:
    check = "! grep x kept.txt || { cat ~/key.pem; exit 1; }"
    done = bakery.run_agent("echo x >> kept.txt", checks=check, iterations=2)
    log = bakery.attempt(done.events[0]["run"]) / "checks.log"
    assert key[3] in log.read_text()


@pytest.mark.parametrize(
    "client",
    keep_few(
        [
            "cat ~/key.pem; exit 3",
            "cat ~/key.pem >&2; exit 3",
            "head -c 70000 /dev/zero | tr '\\0' 'x' >&2; cat ~/key.pem >&2; exit 3",
            "tail -n +5 ~/key.pem >&2; exit 3",
            "sed 's/^/| /' ~/key.pem; echo '<stuck>'; cat ~/key.pem; echo '</stuck>'",
            "printf '<stuck>'; tr '\\n' ' ' < ~/key.pem; echo '</stuck>'",
            "echo 'Status: done'; printf 'Summary: '; tr '\\n' ' ' < ~/key.pem; echo",
        ],
        3,
    ),
)
def test_a_key_that_a_client_prints_is_nowhere(bakery: Shop, key: list[str], client: str) -> None:
    done = bakery.run_agent(client, iterations=2)
    _require_hidden(bakery, done, _body(key))


def test_a_key_in_the_events_of_a_client_is_nowhere(bakery: Shop, key: list[str]) -> None:
    told = [
        *({"type": "text", "text": line} for line in key),
        {"type": "tool", "text": "write key.pem\n" + "\n".join(key)},
        {"type": "denied", "text": "echo " + " ".join(key)},
        {"type": "result", "text": "It is\n" + "\n".join(key), "failed": True},
    ]
    bakery.write("told.jsonl", "".join(json.dumps(one) + "\n" for one in told))
    bakery.commit()
    done = bakery.run_agent("cat told.jsonl", iterations=2)
    _require_hidden(bakery, done, _body(key))
    events = bakery.attempt(done.events[0]["run"]) / "events.jsonl"
    assert key[3] in events.read_text()


@pytest.mark.thorough
def test_a_key_behind_thousands_of_texts_is_nowhere(bakery: Shop, key: list[str]) -> None:
    parts = "head -n 9 ~/key.pem; sleep 1.1; tail -n +10 ~/key.pem"  # a tick lies between them
    done = bakery.run_agent(f"yes go on | head -n 6000; {parts}", once=True)
    _require_hidden(bakery, done, _body(key))


def test_a_token_is_in_no_event_of_a_client(bakery: Shop) -> None:
    secret = "ghp_" + chance(36)
    say = {"type": "text", "text": f"with {secret}"}
    coloured = {"type": "tool", "text": f"use \x1b[1mghp_\x1b[0m{secret[4:]}"}
    limit = {"type": "limit", "text": f"no quota for {secret}"}
    lines = "; ".join(f"echo '{json.dumps(one)}'" for one in (say, coloured, limit))
    done = bakery.run_agent(f"{lines}; exit 3", once=True)
    _require_hidden(bakery, done, [secret])
    assert next(one["text"] for one in done.of("client")) == f"with {MASK}\n"


def test_a_key_that_a_hook_prints_is_nowhere(bakery: Shop, key: list[str]) -> None:
    bakery.install_hook("pre-commit", "cat ~/key.pem; exit 1")
    done = bakery.run_agent("echo x > new.txt", iterations=2)
    assert done.outcomes[0] == "commit_failed"
    _require_hidden(bakery, done, _body(key))


def test_a_password_in_a_command_is_in_no_event(bakery: Shop) -> None:
    done = bakery.run_agent("echo x > new.txt", checks="DB_PASSWORD=hunter22 true", once=True)
    assert "hunter22" not in json.dumps(done.events) + (bakery.root / LEDGER_FILE).read_text()
    assert done.of("check_end")[0]["cmd"] == f"DB_PASSWORD={MASK} true"


def test_a_status_that_another_wrote_is_masked(bakery: Shop) -> None:
    secret = "ghp_" + chance(36)
    done = bakery.run_agent("echo x > new.txt", once=True)
    folder = next(iter(RunFolder.list_all(bakery.root)))
    file = folder.state / "status.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "said": f"it is {secret}"}))
    assert done.outcomes == ["ok"]
    assert read_status(folder).current.said == f"it is {MASK}"


def test_secrets_of_a_task_are_in_no_prompt(bakery: Shop, key: list[str]) -> None:
    words = " ".join(f"word{number}" for number in range(240))
    epic = {"issue_type": "epic", "description": f"{words} " + "\n".join(key)}
    bakery.task("s-9", **epic)
    bakery.task("s-1", parent="s-9", notes="\n".join(key), description="\n".join(key))
    bakery.run_agent("echo x > new.txt", task="s-1", once=True)
    prompts = "".join(file.read_text() for file in bakery.cub.glob("runs/*/*/*/prompt.md"))
    assert prompts
    assert [part for part in _body(key) if part in prompts] == []
