"""How cub was installed, and the commands that follow from it."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from cub.installation import Installation, describe_installation, find_installation

_METADATA = """\
Metadata-Version: 2.4
Name: cub-agents
Version: 0.1.0
Requires-Dist: filelock>=4.0
Requires-Dist: httpx2>=2.16; extra == 'agent'
Requires-Dist: markdownify>=1.0; extra == "agent"
Requires-Dist: genai-prices>=0.2; extra == "prices"
"""
GIT = {"url": "https://example.com/cub.git",
       "vcs_info": {"vcs": "git", "requested_revision": "v0.1", "commit_id": "abc"}}  # fmt: skip


def install(
    base: Path, record: dict[str, Any] | str | None, receipt: str = "", installer: str = "pip"
) -> Installation:
    """Return what cub says of an installation with this `direct_url.json` and this receipt."""
    info = base / "lib" / "cub_agents-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(_METADATA)
    if installer:
        (info / "INSTALLER").write_text(f"{installer}\n")
    if record is not None:
        text = record if isinstance(record, str) else json.dumps(record)
        (info / "direct_url.json").write_text(text)
    if receipt:
        (base / receipt).write_text("")
    found = describe_installation(base / "lib", base, PathDistribution(info))
    return found._replace(python="/env/bin/python", has_pip=True)


def directory(path: Path) -> dict[str, Any]:
    return {"url": path.as_uri(), "dir_info": {}}


def test_this_cub_runs_in_a_checkout() -> None:
    found = find_installation()
    root = Path(__file__).parents[1]
    assert (found.kind, found.source) == ("checkout", root.as_posix())
    command = found.suggest_extra("agent")
    assert command.startswith(sys.executable)
    assert f"-e '{root.as_posix()}[agent]'" in command
    assert find_installation().suggest_upgrade() == f"git -C {root.as_posix()} pull"


def test_an_extra_of_uv_tool(tmp_path: Path) -> None:
    found = install(tmp_path, GIT, "uv-receipt.toml", "uv")
    wanted = "cub-agents[agent] @ git+https://example.com/cub.git@v0.1"
    assert found.suggest_extra("agent") == f"uv tool install --force '{wanted}'"
    assert found.suggest_upgrade() == "uv tool upgrade cub-agents"


def test_an_extra_of_pipx(tmp_path: Path) -> None:
    found = install(tmp_path, directory(tmp_path), "pipx_metadata.json")
    expected = "pipx inject cub-agents 'httpx2>=2.16' 'markdownify>=1.0'"
    assert found.suggest_extra("agent") == expected
    assert found.suggest_upgrade() == "pipx upgrade cub-agents"
    assert found.advise_upgrade("v2").endswith("a version that knows v2: `pipx upgrade cub-agents`")


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (GIT, "'cub-agents[prices] @ git+https://example.com/cub.git@v0.1'"),
        ({"url": "https://example.com/c.whl", "archive_info": {}},
         "'cub-agents[prices] @ https://example.com/c.whl'"),
        (None, "'cub-agents[prices]'"),  # an index: PEP 610 records everything else
    ],
)  # fmt: skip
def test_an_extra_of_pip_comes_from_where_cub_did(
    tmp_path: Path, record: dict[str, Any] | None, wanted: str
) -> None:
    found = install(tmp_path, record)
    assert found.kind == "pip"
    assert found.suggest_extra("prices") == f"/env/bin/python -m pip install {wanted}"


def test_an_extra_of_pip_from_a_directory(tmp_path: Path) -> None:
    found = install(tmp_path, directory(tmp_path))
    assert found.suggest_extra("agent").endswith(f"pip install '{tmp_path.as_posix()}[agent]'")
    assert found.suggest_upgrade().endswith(f"pip install --upgrade {tmp_path.as_posix()}")


@pytest.mark.parametrize("record", ["{", "[]", "{}", {"url": "file:///no/such/cub"}])
@pytest.mark.parametrize("receipt", ["", "uv-receipt.toml", "pipx_metadata.json"])
def test_without_a_known_source_no_command_names_the_package_for_an_index(
    tmp_path: Path, record: dict[str, Any] | str, receipt: str
) -> None:
    found = install(tmp_path, record, receipt)
    command = found.suggest_extra("agent")
    assert "'httpx2>=2.16' 'markdownify>=1.0'" in command
    assert not re.search(r"cub-agents(?!\s'httpx2)", command)


def test_without_metadata_the_extra_is_not_named(tmp_path: Path) -> None:
    found = install(tmp_path, None, installer="")
    assert found.source == ""
    assert "'httpx2>=2.16'" in found.suggest_extra("agent")
    assert found.suggest_upgrade() == ""


def test_an_environment_without_pip_uses_uv(tmp_path: Path) -> None:
    found = install(tmp_path, GIT)._replace(has_pip=False)
    command = found.suggest_extra("agent")
    assert command.startswith("uv pip install --python /env/bin/python 'cub-agents[agent] @ git+")


def test_no_message_of_cub_names_an_installation_by_itself() -> None:
    """Only this module knows how cub was installed."""
    root = Path(__file__).parents[1] / "cub"
    pattern = re.compile(r"install '?cub-agents|cub-agents\[")
    found = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
