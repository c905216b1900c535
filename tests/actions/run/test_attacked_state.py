"""An agent, or a repository, that forges what a run decides by."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cub.actions.run.command_trust import read_executables
from cub.actions.run.run_folders import RunFolder
from cub.errors import CubError
from cub.files.signed_state import find_project_state, read_signed
from tests.actions.run.attacked import attack, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git
from tests.examples import keep_few

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans a parent")
_CUB = '"$PYTHON" -m cub'
# Ways to leave the attempt behind: in the environment, in a session of its own, as an orphan.
_WAYS = ["env -u CUB_RUN -u CUB_TASK -u CUB_ATTEMPT", "env -i PYTHONPATH=$PYTHONPATH HOME=$HOME"]


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(prepare)


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("apart", keep_few(["", "setsid -w "], 1))
def test_to_close_a_task_is_a_wish_in_any_environment(shop: Shop, way: str, apart: str) -> None:
    """10a: it was closed."""
    done = attack(shop, f"echo C > c.py; {apart}{way} {_CUB} task close s-1; exit 1")
    assert (done.code, shop.status()) == (1, "retry"), done.err


@linux
@pytest.mark.thorough
def test_an_orphan_is_inside_as_well(shop: Shop) -> None:
    close = f"{_WAYS[0]} {_CUB} task close s-1; touch .git/said"
    wait = "while [ ! -e .git/said ]; do sleep 0.02; done"
    attack(shop, f"(setsid sh -c '{close}' &); {wait}; exit 1")
    assert shop.status() == "retry"


@pytest.mark.parametrize("way", keep_few(["", *_WAYS, f"XDG_STATE_HOME=$PWD/.. {_WAYS[0]}"], 1))
def test_an_agent_can_not_trust_its_own_commands(shop: Shop, way: str) -> None:
    """11: it could, without the variables of its attempt."""
    shop.task("s-3", status="parked", checks=["touch PWN"])
    shop.commit("a check")
    trusts = f"{way} {_CUB} trust; {way} {_CUB} task edit s-1 --check 'touch PWN'"
    attack(shop, f"echo C > c.py; {trusts}; true")
    found = read_executables(shop.stores, {})
    assert {one.section for one in found} == {"config", "checks"}
    assert not any(one.trusted for one in found)


def test_an_agent_can_not_start_a_run(shop: Shop) -> None:
    start = f"{_WAYS[0]} {_CUB} run --trust --harness mine --no-checks"
    attack(shop, f"{start} 2> said; echo C > c.py")
    assert "a run cannot be started inside an attempt" in (shop.root / "said").read_text()
    assert shop.status() == "closed"


def test_what_a_person_agreed_to_can_not_be_forged(shop: Shop) -> None:
    digests = '{"v": 1, "projects": {"%s": {"config": "%s", "checks": []}}}'
    file = find_project_state(shop.root).parents[1] / "trust.json"
    file.parent.mkdir(parents=True)
    shop.client("true")
    from cub.project.executable_config import list_config_commands
    from cub.project.trust_store import digest_commands

    config = digest_commands(list_config_commands((shop.cub / "config.yaml").read_bytes()))
    file.write_text(digests % (shop.root, config))
    with pytest.raises(CubError, match="not trusted"):
        shop.run(trust=False)


@pytest.mark.parametrize("kind", keep_few(["fifo", "link", "folder", "large"], 2))
def test_a_request_may_be_anything(shop: Shop, kind: str) -> None:
    """24: a FIFO was waited for, and no signal was heard."""
    make = {
        "fifo": "mkfifo $R/request.json",
        "link": "ln -s /dev/zero $R/request.json",
        "folder": "mkdir $R/request.json",
        "large": "truncate -s 20G $R/request.json",
    }[kind]
    done = attack(shop, f"echo C > c.py; R=$(dirname $(find $HOME -name attempt.json)); {make}")
    assert (done.code, shop.status()) == (0, "closed")


def test_a_clone_brings_nothing_to_recover(shop: Shop, tmp_path: Path) -> None:
    """2: a commit of `.cub/runs` reset another repository."""
    other = tmp_path / "pub"
    other.mkdir()
    git(other, "init", "-q")
    for text in ("old\n", "new\n"):
        (other / "f").write_text(text)
        git(other, "add", "f")
        git(other, "commit", "-qm", text)
    old, head = (git(other, "rev-parse", name).strip() for name in ("HEAD~1", "HEAD"))
    tree = git(other, "rev-parse", "HEAD~1^{tree}").strip()
    before: dict[str, object] = {"head": old, "branch": "refs/heads/main", "tree": tree}
    before |= {"untracked": [], "inner": {}, "begun": [], "absent": []}
    run = ".cub/runs/20260101-000000-abcd"
    start = {"task": "s-1", "n": 1, "folder": str(other), "before": before}
    for folder in (shop.root, find_project_state(shop.root)):
        place = folder / (run if folder == shop.root else run.removeprefix(".cub/"))
        (place / "s-1/1").mkdir(parents=True)
        (place / "run.json").write_text(json.dumps({"folder": str(other), "ended": False}))
        (place / "s-1/1/start.json").write_text(json.dumps(start))
        (place / "s-1/1/ended").write_text("1\n")
    assert shop.run_agent("true", no_checks=True, once=True).of("recovered") == []
    assert git(other, "rev-parse", "HEAD").strip() == head
    assert (other / "f").read_text() == "new\n"


def test_a_link_that_a_clone_brings_is_no_place_to_write(shop: Shop, tmp_path: Path) -> None:
    """27: runs were kept wherever it led."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (shop.cub / "runs").symlink_to(outside)
    with pytest.raises(CubError, match="leads out of the project"):
        shop.run_agent("true", no_checks=True)
    assert not [*outside.iterdir()]


def test_a_file_of_another_place_is_not_believed(shop: Shop) -> None:
    done = shop.run_agent("true", no_checks=True, once=True)
    folder = RunFolder(shop.root, done.end["run"])
    other = folder.state.with_name("20260101-000000-abcd")
    other.mkdir()
    (other / "run.json").write_bytes((folder.state / "run.json").read_bytes())
    assert folder.read_state()
    assert not RunFolder(shop.root, other.name).read_state()


def test_nobody_else_can_read_what_decides(shop: Shop) -> None:
    shop.run_agent("true", no_checks=True, once=True)
    state = find_project_state(shop.root)
    modes = {
        path.stat().st_mode & 0o77 for path in (state, state / "runs", state.parents[1] / "key")
    }
    assert modes == {0}


def test_the_environment_of_an_agent_has_no_secret(shop: Shop) -> None:
    attack(shop, "cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' > seen; true")
    seen = (shop.root / "seen").read_bytes()
    key = (find_project_state(shop.root).parents[1] / "key").read_bytes()
    assert key not in seen
    assert key.hex().encode() not in seen


def test_without_a_place_for_its_state_no_run_begins(shop: Shop, tmp_path: Path) -> None:
    shop.client("true")
    (tmp_path / "file").touch()
    done = shop.call("run", "--trust", "--no-checks", XDG_STATE_HOME=str(tmp_path / "file"))
    assert done.code == 1
    assert "cub's state can't be written" in done.err
    assert "XDG_STATE_HOME" in done.err
    assert "Traceback" not in done.err


def test_a_damaged_key_costs_what_it_signed(shop: Shop) -> None:
    shop.run_agent("true", no_checks=True, once=True)
    key = find_project_state(shop.root).parents[1] / "key"
    os.truncate(key, 0)
    done = shop.run(no_checks=True, once=True)
    assert done.outcomes == ["no_changes"]
    assert read_signed(RunFolder(shop.root, done.end["run"]).state / "run.json")["ended"]
