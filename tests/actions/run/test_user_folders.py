"""What an agent can write of the user's: its own directory, and no settings in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.files.signed_state import find_state_folder
from cub.place.place_kind import find_place_kind
from tests.actions.helpers import write
from tests.actions.run.shop import Shop

_TRY = """
cat > /dev/null
for file in "$CLAUDE_CONFIG_DIR/login" "$CLAUDE_CONFIG_DIR/settings.json" "$HOME/.cache/new" \\
    "$HOME/.claude/login" "$HOME/.bashrc"; do
  echo evil >> "$file"
done
echo x > made.txt
"""


@pytest.fixture
def agent(bakery: Shop, tmp_path: Path) -> Path:
    """An agent that is called claude; it has a directory with settings."""
    bakery.task()
    folder = tmp_path / "work-login"
    write(folder, "settings.json", "{}\n")
    program = bakery.install_program("claude", _TRY)
    mine = {"argv": [str(program)], "env": {"CLAUDE_CONFIG_DIR": str(folder)}}
    bakery.configure(harnesses={"mine": mine})
    return folder


def test_an_agent_writes_its_own_folder_but_no_settings(bakery: Shop, agent: Path) -> None:
    home = Path(bakery.environ["HOME"])
    assert bakery.run().outcomes == ["ok"]
    assert (agent / "login").read_text() == "evil\n"
    assert (home / ".cache/new").read_text() == "evil\n"
    kind = find_place_kind("auto", find_state_folder())
    if kind.means == "none":
        pytest.skip(kind.reason)
    assert not any((home / name).exists() for name in (".claude", ".bashrc"))
    if kind.name == "bound":  # Landlock opens a directory as a whole
        assert (agent / "settings.json").read_text() == "{}\n"
