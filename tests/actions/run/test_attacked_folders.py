"""An agent that puts something else in the place of cub's own folder, or fills the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from tests.actions.run import full_disk_run
from tests.actions.run.attacked import CHECK, is_untouched, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told
from tests.conftest import environment
from tests.examples import keep_few
from tests.files.conftest import may_mount  # noqa: F401 - a fixture


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    made = copy_shop(prepare)
    made.write(".cub/constitution.md", "# Ours\n")
    return made


@pytest.mark.parametrize(
    "shell",
    keep_few(
        [
            *(
                f"rm -rf .cub; {make}"
                for make in (
                    "ln -s .. .cub",
                    "echo mine > .cub",
                    "mkfifo .cub",
                    "mkdir in; ln -s in .cub",
                )
            ),
            *(
                f"rm .cub/{name}; {make} .cub/{name}"
                for make in ("mkdir", "mkfifo", "ln -s /etc/hostname")
                for name in ("tasks.jsonl", "ledger.jsonl", "constitution.md", "config.yaml")
            ),
            "ln -sf nowhere .cub/lock",
            "chmod 000 .cub .cub/tasks.jsonl",
            "rm -rf .cub/runs; ln -s .. .cub/runs",
        ],
        3,
    ),
)
def test_whatever_becomes_of_cubs_folder_the_checkout_has_its_own(shop: Shop, shell: str) -> None:
    """27, 30, R17: things were written wherever a link led, and no later run could begin."""
    shop.client(f"cat > /dev/null; echo 'A = 2' > a.py; {shell}")
    shop.set_checks(CHECK)
    names = ("constitution.md", "config.yaml")
    before = [((shop.cub / name).read_bytes(), (shop.cub / name).stat().st_mode) for name in names]
    done = shop.run(once=True)
    assert not done.end["ok"]
    require_told(shop, done)
    assert [
        ((shop.cub / name).read_bytes(), (shop.cub / name).stat().st_mode) for name in names
    ] == before
    assert shop.status() == "retry"
    assert is_untouched(shop)


def test_a_folder_in_the_place_of_the_lock_in_git_is_named_with_what_to_do(shop: Shop) -> None:
    lock = shop.root / ".git/cub-run.lock"
    lock.mkdir()
    with pytest.raises(CubError) as error:
        shop.run_agent("echo C > c.py", checks=CHECK)
    assert str(error.value) == f"{lock.as_posix()}: this is a directory, not a file"
    assert error.value.hint == f"delete it: rm -r {lock.as_posix()}"


@pytest.mark.skipif(os.name != "posix", reason="limits of processes are POSIX's")
@pytest.mark.parametrize(("limit", "count"), [("RLIMIT_NOFILE", 16), ("RLIMIT_FSIZE", 2000)])
@pytest.mark.thorough
def test_a_limit_of_the_machine_is_no_fault_of_the_task(shop: Shop, limit: str, count: int) -> None:
    shop.client("cat > /dev/null; head -c 100000 /dev/urandom > big; echo 'A = 2' > a.py")
    limited = f"import resource, runpy; resource.setrlimit(resource.{limit}, ({count}, {count}))"
    start = f"{limited}; runpy.run_module('cub', run_name='__main__', alter_sys=True)"
    argv = [sys.executable, "-B", "-c", start, "run", "--trust", "--check", CHECK]
    done = subprocess.run(
        argv, cwd=shop.root, env=shop.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "bug in cub" not in done.stderr
    assert shop.run_agent("echo C > c.py", checks=CHECK).end["ok"]
    assert shop.status() == "closed"
    charged = [e for e in shop.ledger("attempt_end") if e.get("fail", {}).get("charge")]
    assert not charged
    assert is_untouched(shop)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")
def test_a_full_disk_ends_the_run_and_its_place_is_emptied(
    tmp_path: Path,
    may_mount: list[str],  # noqa: F811 - the fixture
) -> None:
    (tmp_path / "disk").mkdir()
    words = [full_disk_run.__file__, str(tmp_path / "disk")]
    environ = {**environment(tmp_path / "disk/home"), "PYTHON": sys.executable}
    argv = [*may_mount, sys.executable, *words]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "end": "machine", "charged": False, "untouched": True, "status": "open", "next": ["ok"],
    }  # fmt: skip
