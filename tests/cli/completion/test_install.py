"""`--install-completion`: a script, and no byte of a person's file that is not theirs any more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.cli.completion.install import SHELL_SCRIPTS, ShellPaths, install_completion_script
from cub.errors import CubError
from tests.conftest import Cub, tree

RC = {
    "none": None,
    "empty": b"",
    "plain": b"alias ll='ls -l'\n",
    "no end": b"alias ll='ls -l'",
    "blanks": b"\n\n  alias x=y  \n\n\n",
    "dos": b"alias a=b\r\nalias c=d\r\n",
    "latin": b"# caf\xe9 \xff\x00\n",
    "styled": b"zstyle ':completion:*' menu no\n",
}


@pytest.fixture
def places(tmp_path: Path) -> ShellPaths:
    home = tmp_path / "my home"
    home.mkdir()
    return ShellPaths(home / "share/cub", home / ".config/fish", home / ".bashrc", home / ".zshrc")


def rc(places: ShellPaths, shell: str) -> Path:
    return places.bashrc if shell == "bash" else places.zshrc


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("before", RC.values(), ids=RC)
def test_a_person_s_file_gets_one_line_and_keeps_every_byte(
    places: ShellPaths, shell: str, before: bytes | None
) -> None:
    file = rc(places, shell)
    if before is not None:
        file.write_bytes(before)
        file.chmod(0o600)
    done = install_completion_script(shell, places)
    assert [*done] == [places.data / f"completion.{shell}", file]
    assert done.script.read_text() == SHELL_SCRIPTS[shell]
    after = file.read_bytes()
    assert after.startswith(before or b"")
    added = after[len(before or b"") :].removeprefix(b"\n" if before == RC["no end"] else b"")
    assert added == f"[ -r '{done.script}' ] && . '{done.script}'\n".encode()
    if before is not None and os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600
    again = tree(places.bashrc.parent)
    assert install_completion_script(shell, places) == (done.script, None)
    assert tree(places.bashrc.parent) == again


def test_fish_needs_no_line(places: ShellPaths) -> None:
    done = install_completion_script("fish", places)
    assert done == (places.fish / "completions/cub.fish", None)
    assert tree(places.bashrc.parent) == {
        ".config/fish/completions/cub.fish": SHELL_SCRIPTS["fish"].encode()
    }


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_stays_one(places: ShellPaths, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles-bashrc"
    real.write_bytes(b"mine\n")
    places.bashrc.symlink_to(real)
    install_completion_script("bash", places)
    assert places.bashrc.is_symlink()
    assert real.read_bytes().startswith(b"mine\n[ -r ")


def test_a_file_that_may_not_be_written_stays_as_it_is(places: ShellPaths) -> None:
    places.bashrc.write_bytes(b"mine\n")
    places.bashrc.chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        install_completion_script("bash", places)
    assert places.bashrc.read_bytes() == b"mine\n"


def test_an_older_script_is_replaced(places: ShellPaths) -> None:
    install_completion_script("bash", places)
    (places.data / "completion.bash").write_text("old\n")
    assert install_completion_script("bash", places) == (places.data / "completion.bash", None)
    assert (places.data / "completion.bash").read_text() == SHELL_SCRIPTS["bash"]


def test_the_places_are_those_of_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    found = ShellPaths.from_environment({})
    assert (found.bashrc, found.zshrc) == (home / ".bashrc", home / ".zshrc")
    assert found.fish == home / ".config/fish"
    other = ShellPaths.from_environment({"ZDOTDIR": "/z", "XDG_CONFIG_HOME": "/c"})
    assert (other.zshrc, other.fish) == (Path("/z/.zshrc"), Path("/c/fish"))


def test_what_was_written_is_told(cub: Cub, home: Path) -> None:
    done = cub("--install-completion", "bash", XDG_DATA_HOME=str(home / ".local/share"))
    assert done.code == 0
    assert done.out == (
        "The completion for bash is in ~/.local/share/cub/completion.bash.\n"
        "A line at the end of ~/.bashrc loads it.\n"
    )
    assert done.err == "Open a new shell to use it.\n"
    assert [*tree(home)] == [".bashrc", ".local/share/cub/completion.bash"]
