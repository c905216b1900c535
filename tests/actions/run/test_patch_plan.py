"""The patch of a failed attempt on the working tree: all of it as git would have it, or nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cub.actions.run.past_attempts import list_task_attempts
from cub.actions.run.patch_plan import plan_patch
from cub.actions.tasks.stores import open_stores
from cub.errors import CombinedError, CubError
from cub.files.apply import apply_plan
from cub.files.lock import lock_project
from cub.project.project import Project
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git
from tests.git.checkouts import state

WORK = """cat > /dev/null; printf '1\\n3\\n' > a; chmod +x run; printf 'y\\n' > both; chmod -x both
printf '1\\r\\n3\\r\\n' > b.crlf; head -c 99 /dev/zero > data; rm gone link; mkdir new
printf new > new/deep; : > new/empty; printf x > 'odd
name'; exit 1"""


def fail(bakery: Shop) -> None:
    """Let an attempt fail that changed all kinds of files."""
    files: dict[str, str | bytes] = {
        "a": "1\n2\n", "run": "x\n", "both": "x\n", "data": b"\0\xff", "gone": "x\n",
        ".gitattributes": "*.crlf text eol=crlf\n", "b.crlf": "1\r\n2\r\n",
    }  # fmt: skip
    for name, data in files.items():
        bakery.write(name, data)
    (bakery.root / "both").chmod(0o755)
    (bakery.root / "link").symlink_to("a")
    bakery.client(WORK)
    bakery.task()
    bakery.commit()
    bakery.run(once=True, no_checks=True)


@pytest.fixture
def failed(copy_shop: CopyShop) -> Shop:
    """A shop in which an attempt has failed."""
    return copy_shop(fail)


def patch(shop: Shop, number: int | None = None) -> None:
    """Apply the patch of the attempt at s-1."""
    project = Project.load(shop.root)
    task = list_task_attempts(open_stores(project, "me"), "s-1")
    attempt = task.choose(number) if number else task.choose_patched()
    with lock_project(shop.root) as lock:
        apply_plan(plan_patch(project, attempt), lock)


def files(root: Path) -> dict[str, tuple[str, bytes]]:
    return {name: entry for name, entry in state(root).items() if not name.startswith(".cub/")}


def test_all_files_are_what_git_makes_of_them(failed: Shop, tmp_path: Path) -> None:
    before, (kept,) = files(failed.root), failed.cub.glob("runs/*/s-1/1/changes.patch")
    patch(failed)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(failed.root), str(clone))
    subprocess.run(["git", "apply", str(kept)], cwd=clone, check=True)
    found = files(failed.root)
    assert found == files(clone)
    assert {name for name in found.keys() | before if found.get(name) != before.get(name)} == {
        "a", "run", "both", "b.crlf", "data", "gone", "link", "new/deep", "new/empty", "odd\nname",
    }  # fmt: skip
    assert found["run"] == ("program", b"x\n")
    assert found["both"] == ("file", b"y\n")
    assert found["b.crlf"] == ("file", b"1\r\n3\r\n")


@pytest.mark.parametrize(
    ("shell", "errors"),
    [
        ("echo mine >> a", {"a": "this has changes that are not committed"}),
        ("rm gone; mkdir gone", {"gone": "this has changes that are not committed"}),
        ("ln -sf both link", {"link": "this has changes that are not committed"}),
        ("mkdir new; echo mine > new/deep", {"new/deep": "the patch makes this file"}),
        ("echo mine >> a; echo mine >> data", {"a": "this has", "data": "this has"}),
        ("printf '0\\n0\\n' > a; git commit -qam x", {"a:1": "the patch does not fit"}),
        ("git rm -q gone; git commit -qam x", {"gone": "the patch does not fit"}),
    ],
)  # fmt: skip
def test_nothing_is_written_if_a_file_is_in_the_way(
    failed: Shop, shell: str, errors: dict[str, str]
) -> None:
    subprocess.run(["sh", "-c", shell], cwd=failed.root, check=True)
    before = files(failed.root)
    with pytest.raises(CubError) as refused:
        patch(failed)
    error = refused.value
    found = error.errors if isinstance(error, CombinedError) else (error,)
    assert {one.where for one in found} == errors.keys()
    assert all(one.message.startswith(errors[one.where]) and one.hint for one in found)
    assert files(failed.root) == before


def test_line_endings_that_git_would_change_are_in_the_way(failed: Shop) -> None:
    failed.write("b.crlf", "1\n2\n")
    assert git(failed.root, "diff", "b.crlf") == ""
    with pytest.raises(CubError, match=r"^b\.crlf: this has changes"):
        patch(failed)


def test_what_a_plan_can_not_write_is_refused(bakery: Shop) -> None:
    bakery.run_agent("ln -s kept.txt new; echo x > other; exit 1", once=True)
    with pytest.raises(CubError, match=r"^new: the patch makes a symbolic link") as refused:
        patch(bakery)
    assert "apply --3way" in refused.value.hint
    assert not (bakery.root / "other").exists()


def test_files_outside_of_the_project_are_refused(failed: Shop) -> None:
    inner = failed.root / "inner"
    shutil.copytree(failed.cub, inner / ".cub")
    with pytest.raises(CombinedError, match="outside of the project"):
        patch(Shop(inner, failed.environ))


def test_a_link_in_the_place_of_a_patch_is_not_followed(failed: Shop) -> None:
    (kept,) = failed.cub.glob("runs/*/s-1/1/changes.patch")
    elsewhere = failed.root.parent / "elsewhere"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    for number, message in ((None, "no attempt at s-1 has left a patch here"),
                            (1, "attempt 1 at s-1 has left no patch here")):  # fmt: skip
        with pytest.raises(CubError, match=message):
            patch(failed, number)
