"""The shapes in docs/reference/json.md are the ones that the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.conftest import Cub, git

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"


def example(heading: str) -> Any:
    """The block below a heading."""
    _, _, below = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    found = re.search(r"```json\n(.*?)```", below, re.DOTALL)
    assert found
    return json.loads(found[1])


def shape(value: Any) -> Any:
    """Keys and kinds of values, in order; of a list, the shapes that its items have."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [json.loads(text) for text in sorted({json.dumps(shape(item)) for item in value})]
    return "number" if value is None or isinstance(value, int) else type(value).__name__


def test_a_plan(cub: Cub, project: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("mapp: 1\n")
    assert shape(json.loads(cub("init", "--json").out)) == shape(example("A plan"))


def test_a_status(cub: Cub) -> None:
    assert cub("init").code == 0
    printed = json.loads(cub("status", "--json").out)
    shown = example("Status")
    assert printed["files"][1] == shown["files"][0]
    assert shape({**printed, "files": []}) == shape({**shown, "files": []})


def test_the_map(cub: Cub, project: Path) -> None:
    shown = example("The map")
    files = {
        "pyproject.toml": f'[project]\nname = "bakery"\ndescription = "{shown["summary"]}"\n'
        '[project.scripts]\nbakery = "bakery.bread:dozens"\n'
        "[tool.pytest.ini_options]\n[tool.ruff]\n",
        "README.md": "# Bakery\n",
        "bakery/__init__.py": "from bakery.bread import dozens\n",
        "bakery/bread.py": "DOZEN = 12\n\n\ndef dozens(loaves: int) -> int:\n    return loaves\n",
        "bakery/photo.py": "\0",
        ".cub/tasks.jsonl": '{"id": "t-1"}\n{"id": "t-2"}\n',
        ".cub/ledger.jsonl": '{"ev": "attempt_end", "ok": true}\n',
    }
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    printed = json.loads(cub("map", "--json").out)
    assert shape(printed) == shape(shown)
    for key, value in shown.items():
        if isinstance(value, list):
            assert [row for row in printed[key] if row in value] == value, printed[key]
        elif key != "root":
            assert printed[key] == value


def test_a_review(cub: Cub, project: Path) -> None:
    agents = project / "AGENTS.md"
    agents.write_text("# Bakery\n")
    cub("init")
    git(project, "checkout", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "Add cub")
    text = agents.read_text().replace("- Claim:", "- Never claim:")
    agents.write_text(f"{text}\nPrices are in cents.\n")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text("{}\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "Change")
    done = cub("diff", "main~1..main", "--json")
    assert (done.code, shape(json.loads(done.out))) == (1, shape(example("A review")))


def test_several_projects(cub: Cub, project: Path, home: Path) -> None:
    cub("init")
    done = cub("update", "--check", str(project), str(home), "--json")
    printed, shown = json.loads(done.out)["projects"], example("Several projects")["projects"]
    assert (done.code, len(printed)) == (1, len(shown))
    assert printed[0] == {**shown[0], "root": str(project)}
    assert printed[1] == {**shown[1], "root": str(home)}


def test_an_error(cub: Cub, project: Path) -> None:
    (project / "AGENTS.md").write_text("# A\n\n<!-- END CUB MANAGED SECTION -->\n")
    done = cub("init", "--json")
    assert (done.code, json.loads(done.out)) == (1, example("An error"))


def test_the_configuration(cub: Cub) -> None:
    cub("config", "set", "placement", "top")
    shown = example("Configuration")
    printed = json.loads(cub("config", "show", "--json").out)
    assert list(printed) == list(shown)
    assert [row for row in printed["settings"] if row["origin"] != "default"] == shown["settings"]
    one = json.loads(cub("config", "get", "placement", "--json").out)
    assert one == {"v": 1, **shown["settings"][0]}


def test_a_repair(cub: Cub, project: Path) -> None:
    (project / "AGENTS.md").write_text("# A\n\n<!-- END CUB MANAGED SECTION -->\n")
    done = cub("repair", "--json")
    shown = {**example("Repair"), "root": str(project)}
    assert (done.code, json.loads(done.out)) == (1, shown)
