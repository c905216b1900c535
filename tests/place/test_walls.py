"""What a command behind walls sees, and what it can write, by each means."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from cub.place.place_kind import find_place_kind
from cub.place.walls import Bind, PlaceKind, confine_command
from cub.processes.command import CommandSpec
from tests.place.walled import Walled, make_walled

if os.name != "posix":
    pytest.skip("walls need Linux", allow_module_level=True)


ROOT = Path(__file__).parents[2]


def test_the_tree_is_at_the_path_of_the_checkout(bound: Walled) -> None:
    (bound.view.tree / "code.py").write_text("the attempt's\n", encoding="utf-8")
    assert bound.run("pwd; cat code.py; echo new > new.py").splitlines() == [
        bound.view.toplevel.as_posix(),
        "the attempt's",
    ]
    assert (bound.view.tree / "new.py").owner() == bound.base.owner()
    assert not (bound.view.toplevel / "new.py").exists()


def test_the_state_is_empty_but_for_what_is_bound(bound: Walled) -> None:
    mailbox, target = bound.base / "mailbox", bound.base / "state" / "p" / "attempt"
    mailbox.mkdir()
    binds = (Bind(os.fspath(mailbox), os.fspath(target), is_writable=True),)
    line = f"ls {bound.base}/state; echo close > {target}/request"
    assert bound.run(line, replace(bound.view, binds=binds)) == "p\n"
    assert (mailbox / "request").read_text(encoding="utf-8") == "close\n"


def test_only_what_is_writable_can_be_written(bound: Walled) -> None:
    before = bound.list_files()
    lines = "; ".join(f"echo x > {path}" for path in ("$BASE/new", "$HOME/.gitconfig"))
    printed = bound.run(f"{lines}; echo x > $HOME/.cache/kept")
    assert printed.count("Read-only file system") == 2
    assert bound.list_files() == before
    assert (bound.home / ".cache" / "kept").exists()


def test_a_file_is_bound_read_only_into_a_writable_folder(bound: Walled) -> None:
    settings = bound.home / ".cache" / "settings.json"
    settings.write_text("{}\n", encoding="utf-8")
    name = os.fspath(settings)
    view = replace(bound.view, binds=(Bind(name, name), Bind("/nowhere", "/nowhere")))
    line = "echo x > $HOME/.cache/settings.json; rm -f $HOME/.cache/settings.json; echo end"
    assert bound.run(line, view).endswith("end\n")
    assert settings.read_text(encoding="utf-8") == "{}\n"


def test_scratch_folders_are_private_but_show_what_is_needed_as_it_is_now(bound: Walled) -> None:
    temporary = bound.base / "temporary"
    for name in ("tools", "other"):
        (temporary / name).mkdir()
    view = replace(bound.view, readable=(temporary / "tools",))
    line = "ls $TMPDIR; echo x > $TMPDIR/new; mktemp; read go; ls $TMPDIR/tools; echo > tools/x"
    command = bound.make(line, view)
    with subprocess.Popen(
        command.argv, env=command.environ, stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True
    ) as running:
        assert running.stdout
        first = [running.stdout.readline() for _ in range(2)]
        assert (first[0], first[1].startswith(f"{temporary}/")) == ("tools\n", True)
        (temporary / "tools" / "later").touch()
        rest, _ = running.communicate("go\n")
    assert rest.startswith("later\n")
    assert sorted(path.name for path in temporary.iterdir()) == ["other", "tools"]


@pytest.mark.parametrize("variable", ["PATH", "VIRTUAL_ENV", "PYTHONPATH", "CARGO_HOME"])
def test_folders_that_the_environment_names_stay_visible(launched: Walled, variable: str) -> None:
    (launched.base / "temporary" / "env" / "bin").mkdir(parents=True)
    value = f"{os.environ['PATH']}:{launched.base}/temporary/env/bin"
    assert launched.run("ls $TMPDIR", None, **{variable: value}) == "env\n"
    assert launched.run("ls $TMPDIR", OUTPUT=value) == ""


def test_files_of_the_command_stay_visible(launched: Walled) -> None:
    temporary = launched.base / "temporary"
    (temporary / "tools").mkdir()
    (temporary / "tools" / "check.sh").write_text("echo checked\n", encoding="utf-8")
    assert launched.run(f"sh {temporary}/tools/check.sh") == "checked\n"
    assert launched.run("sh $TMPDIR/tools/check.sh").endswith("check.sh\n") is False


def test_what_is_written_to_a_layer_is_thrown_away(launched: Walled) -> None:
    shared = launched.view.toplevel / "node_modules"
    (shared / "a").mkdir(parents=True)
    (shared / "a" / "index.js").write_text("1\n", encoding="utf-8")
    before = launched.list_files()
    (launched.view.tree / "node_modules").mkdir()
    name = os.fspath(shared)
    view = replace(launched.view, binds=(Bind(name, name, is_layered=True),))
    line = (
        "cd node_modules; cat a/index.js; rm -rf a; mkdir -p a .cache; echo 2 > a/index.js; ls -A"
    )
    assert launched.run(line, view).split() == ["1", ".cache", "a"]
    assert launched.list_files() == before
    assert list((launched.view.tree / "node_modules").iterdir()) == []


def test_bwrap_lets_caches_be_written_even_without_layers(tmp_path: Path) -> None:
    walled = make_walled(tmp_path.resolve(), "bwrap")
    shared = walled.view.toplevel / "node_modules"
    (shared / ".cache").mkdir(parents=True)
    name = os.fspath(shared)
    view = replace(walled.view, binds=(Bind(name, name, is_layered=True),))
    has_layers = "--tmp-overlay" in walled.make("", view).argv
    line = "cd node_modules; echo 1 > .cache/x && echo cached; (echo 1 > x) && echo written"
    words = {"cached", "written"} & set(walled.run(line, view).split())
    assert words == ({"cached", "written"} if has_layers else {"cached"})
    assert [path.name for path in shared.rglob("*")] == [".cache"]


def test_no_link_in_the_tree_leads_a_bind_elsewhere(launched: Walled) -> None:
    (launched.view.tree / "vendor").symlink_to(launched.home)
    name = os.fspath(launched.base / "temporary")
    target = os.fspath(launched.view.toplevel / "vendor" / "new")
    view = replace(launched.view, binds=(Bind(name, target, is_writable=True),))
    done = launched.start("echo unreachable", view)
    assert (done.returncode, "a symbolic link leads elsewhere" in done.stdout) == (125, True)
    assert not (launched.home / "new").exists()


def test_git_trusts_the_tree(bound: Walled) -> None:
    assert bound.run("git init -q . && git status --short && echo trusted") == "trusted\n"


def test_a_namespace_can_be_made_inside(bound: Walled) -> None:
    assert bound.run("unshare -Urm sh -c 'mount -t tmpfs x /mnt && echo nested'") == "nested\n"


def test_a_terminal_can_be_opened(bound: Walled) -> None:
    assert bound.run("script -qec 'echo shown' /dev/null").split() == ["shown"]


def test_the_kind_is_kept_until_the_next_boot(tmp_path: Path) -> None:
    kind = find_place_kind("aside", tmp_path)
    assert (kind.name, kind.reason.partition(",")[0]) == ("aside", "run.place is aside")
    kept = tmp_path / "place-kind.json"
    key, *_ = json.loads(kept.read_text(encoding="utf-8"))
    kept.write_text(json.dumps([key, "aside", "none", "as kept"]), encoding="utf-8")
    assert find_place_kind("aside", tmp_path) == PlaceKind("aside", "none", "as kept")
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]
    kept.write_text(json.dumps(["of an earlier boot", "aside", "none", ""]), encoding="utf-8")
    assert find_place_kind("aside", tmp_path) == kind
    kept.write_text("broken", encoding="utf-8")
    assert find_place_kind("aside", tmp_path) == kind


@pytest.mark.parametrize("setting", ["auto", "bound"])
def test_a_system_without_namespaces_has_places_aside(launched: Walled, setting: str) -> None:
    """What the launcher was tried in allows no more namespaces in those that it made."""
    program = f"""
from pathlib import Path
from cub.errors import CubError
from cub.place.place_kind import find_place_kind
try:
    kind = find_place_kind({setting!r}, Path({os.fspath(launched.home / ".cache")!r}))
    print(kind.name, kind.means, kind.reason)
except CubError as error:
    print(error, error.hint)
"""
    limit = "echo 0 > /proc/sys/user/max_user_namespaces"
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f'{limit}; exec "$@"', "sh", sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
        stdout=PIPE,
        check=True,
        text=True,
    )
    reason = "namespaces do not work here (unshare: there may be no more namespaces)"
    if setting == "auto":
        assert re.fullmatch(rf"aside (landlock|none) {re.escape(reason)}.*\n", done.stdout)
    else:
        assert f"run.place is bound, but {reason}" in done.stdout


def test_a_profile_for_macos_allows_writing_to_the_tree(launched: Walled) -> None:
    kind = PlaceKind("aside", "seatbelt", "")
    folder = launched.view.tree / 'with "quotes"'
    folder.mkdir()
    command = CommandSpec(("true",), folder, {"HOME": os.fspath(launched.home)})
    words = confine_command(command, replace(launched.view, tree=folder), kind)
    assert (words.argv[0], words.argv[-1], words.folder) == (
        "/usr/bin/sandbox-exec",
        "true",
        folder,
    )
    quoted = os.fspath(folder).replace('"', '\\"')
    assert f'(deny file-write*)(allow file-write* (subpath "{quoted}"))' in words.argv[2]
