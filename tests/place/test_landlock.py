"""What a command in the aside kind can write, and whom it can reach."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.place.walled import Walled, make_walled

if os.name != "posix":
    pytest.skip("walls need Linux", allow_module_level=True)


@pytest.fixture
def walled(tmp_path: Path) -> Walled:
    return make_walled(tmp_path.resolve(), "landlock")


def test_only_the_tree_and_what_is_writable_can_be_written(walled: Walled) -> None:
    before = walled.list_files()
    attacks = (
        "echo x > $BASE/new",
        "echo x >> $BASE/checkout/code.py",
        ": > $BASE/checkout/code.py",
        "rm -f $BASE/checkout/code.py",
        "mv $BASE/checkout/code.py .",
        "ln $BASE/checkout/code.py linked",
        "mkdir $BASE/checkout/folder",
        "ln -s /etc $HOME/link",
        "cp code.py $BASE/state/key",
    )
    line = "; ".join(f"({attack}) && echo 'BROKE {attack}'" for attack in attacks)
    assert "BROKE" not in walled.run(f"echo 1 > code.py; {line}")
    assert walled.list_files() == before
    walled.run("mkdir a; echo 1 > a/x; mv a/x y; ln y a/z; echo 1 > $HOME/.cache/new")
    assert sorted(path.name for path in walled.view.tree.rglob("*")) == ["a", "code.py", "y", "z"]
    assert (walled.home / ".cache" / "new").exists()


def test_the_attacks_work_without_walls(walled: Walled) -> None:
    """Otherwise the test above proves nothing."""
    walled.with_means("none").run("rm -f $BASE/checkout/code.py; echo x > $BASE/new")
    assert (walled.base / "new").exists()
    assert not (walled.view.toplevel / "code.py").exists()


def test_a_scratch_folder_with_the_checkout_in_it_is_replaced(walled: Walled) -> None:
    printed = walled.run("echo $TMPDIR", None, TMPDIR=os.fspath(walled.base))
    assert printed.strip() == os.fspath(walled.base / "scratch")
    assert walled.run("mktemp").startswith(os.fspath(walled.base / "temporary"))


def test_a_folder_with_the_checkout_in_it_is_never_writable(walled: Walled) -> None:
    view = walled.view
    for folder in (walled.base, view.toplevel, view.toplevel / "build"):
        folder.mkdir(exist_ok=True)
        line = f"echo x > {view.toplevel}/code.py; echo x > {folder}/new"
        walled.run(line, replace(view, writable=(folder,)), TMPDIR=os.fspath(folder))
        assert not (folder / "new").exists()
    assert (view.toplevel / "code.py").read_text(encoding="utf-8") == "the person's\n"


def test_git_works(walled: Walled) -> None:
    line = (
        "git init -q . && touch a && git add a && git -c user.name=a -c user.email=b commit -qm a"
    )
    assert walled.run(f"{line} && git log --format=%s") == "a\n"


def test_devices_can_be_written(walled: Walled) -> None:
    assert walled.run("echo x > /dev/null; echo done").split() == ["done"]
    assert walled.run("script -qec 'echo shown' /dev/null").split() == ["shown"]


def test_processes_outside_get_no_signal(walled: Walled) -> None:
    if _reaches_outside(walled):
        pytest.skip("this kernel's Landlock does not know signals")
    assert "not permitted" in walled.run(f"kill -0 {os.getpid()}").lower()


def test_abstract_sockets_outside_cannot_be_reached(walled: Walled) -> None:
    if _reaches_outside(walled):
        pytest.skip("this kernel's Landlock does not know sockets")
    assert "refused" in _connect(walled)
    assert "refused" in _connect(walled.with_means("launcher"))
    assert _connect(walled.with_means("none")) == "connected\n"


def _reaches_outside(walled: Walled) -> bool:
    return walled.start(f"kill -0 {os.getpid()}").returncode == 0


def _connect(walled: Walled) -> str:
    name = f"cub-test-{walled.base.name}-{os.getpid()}"
    program = f"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + {name!r})"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        done = walled.run(f'{sys.executable} -ISc "{program}" && echo connected')
    return "refused" if "not permitted" in done else done
