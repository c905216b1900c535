"""`--install-completion`: a script, and no byte of a person's file that is not theirs any more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from platformdirs import user_data_path

from cub.cli.completion.install import SHELL_SCRIPTS, install_completion_script
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
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home directory of a person who has set nothing else."""
    home = tmp_path / "my home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("before", RC.values(), ids=RC)
def test_a_person_s_file_gets_one_line_and_keeps_every_byte(
    account: Path, shell: str, before: bytes | None
) -> None:
    file = account / f".{shell}rc"
    if before is not None:
        file.write_bytes(before)
        file.chmod(0o600)
    script, loader = install_completion_script(shell)
    assert (script, loader) == (user_data_path("cub") / f"completion.{shell}", file)
    assert script.read_text() == SHELL_SCRIPTS[shell]
    after = file.read_bytes()
    assert after.startswith(before or b"")
    added = after[len(before or b"") :].removeprefix(b"\n" if before == RC["no end"] else b"")
    assert added == f"[ -r '{script}' ] && . '{script}'\n".encode()
    if before is not None and os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600
    again = tree(account)
    assert install_completion_script(shell) == (script, None)
    assert tree(account) == again


def test_fish_needs_no_line(account: Path) -> None:
    done = install_completion_script("fish")
    assert done == (account / ".config/fish/completions/cub.fish", None)
    assert tree(account) == {".config/fish/completions/cub.fish": SHELL_SCRIPTS["fish"].encode()}


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_stays_one(account: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles-bashrc"
    real.write_bytes(b"mine\n")
    (account / ".bashrc").symlink_to(real)
    install_completion_script("bash")
    assert (account / ".bashrc").is_symlink()
    assert real.read_bytes().startswith(b"mine\n[ -r ")


def test_a_file_that_may_not_be_written_stays_as_it_is(account: Path) -> None:
    (account / ".bashrc").write_bytes(b"mine\n")
    (account / ".bashrc").chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        install_completion_script("bash")
    assert (account / ".bashrc").read_bytes() == b"mine\n"


def test_an_older_script_is_replaced(account: Path) -> None:
    script, _ = install_completion_script("bash")
    assert script.is_relative_to(account)
    script.write_text("old\n")
    assert install_completion_script("bash") == (script, None)
    assert script.read_text() == SHELL_SCRIPTS["bash"]


def test_the_places_are_those_of_the_environment(
    account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZDOTDIR", str(account / "z"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(account / "c"))
    assert install_completion_script("zsh")[1] == account / "z/.zshrc"
    assert install_completion_script("fish")[0] == account / "c/fish/completions/cub.fish"


def test_what_was_written_is_told(cub: Cub, home: Path) -> None:
    done = cub("--install-completion", "bash", XDG_DATA_HOME=str(home / ".local/share"))
    assert done.code == 0
    assert done.out == (
        "The completion for bash is in ~/.local/share/cub/completion.bash.\n"
        "A line at the end of ~/.bashrc loads it.\n"
    )
    assert done.err == "Open a new shell to use it.\n"
    assert [*tree(home)] == [".bashrc", ".local/share/cub/completion.bash"]
