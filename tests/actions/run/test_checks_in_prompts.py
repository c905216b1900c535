"""What a run without checks proposes, and what its prompt says of checks and commits."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cub.actions.check_commands import propose_checks
from cub.actions.run.check_proposals import describe_proposed_checks
from cub.config_edit.yaml_text import parse_yaml
from cub.project.project import Project
from cub.source_text import decode_source
from tests.actions.helpers import put_programs
from tests.actions.run.shop import Shop
from tests.conftest import git

WRITE = 'echo "$CUB_TASK" > "$CUB_TASK.txt"'
PYPROJECT = (
    '[project]\nname = "oven"\n[tool.mypy]\nstrict = true\n[tool.pytest.ini_options]\n[tool.ruff]\n'
)


def propose(bakery: Shop, *programs: str) -> Mapping[str, str]:
    """The proposal where these programs are installed."""
    folder = put_programs(bakery.root.parent / "bin", *programs)
    return propose_checks(Project.load(bakery.root), {"PATH": str(folder)}).commands


@pytest.mark.parametrize(
    ("files", "proposed"),
    [
        (
            {"pyproject.toml": PYPROJECT, "src/oven/__init__.py": ""},
            "`cub config set run.checks '[pytest, mypy src, ruff check]'`",
        ),
        (
            {
                "package.json": '{"workspaces": ["web"]}',
                "web/package.json": '{"scripts": {"lint": "eslint .", "test": "jest"}}',
            },
            """`cub config set run.checks '["cd web && npm test", "cd web && npm run lint"]'`""",
        ),
    ],
    ids=["python", "workspace"],
)
def test_tests_come_first(bakery: Shop, files: dict[str, str], proposed: str) -> None:
    for path, text in files.items():
        bakery.write(path, text)
    bakery.commit("manifests")
    text = describe_proposed_checks(
        propose(bakery, "pytest", "mypy", "ruff", "npm", "jest", "eslint")
    )
    assert text.startswith("run.checks is not set; the run uses `")
    assert text.endswith(f"to keep that: {proposed}")


def test_what_is_proposed_can_be_set(bakery: Shop) -> None:
    bakery.write("packages/a b/package.json", '{"scripts": {"test": "jest"}}')
    bakery.write("package.json", '{"workspaces": ["packages/*"]}')
    git(bakery.root, "add", "-A")
    text = describe_proposed_checks(propose(bakery, "npm", "jest"))
    line = text.partition("run.checks '")[2].partition("'`")[0].replace("'\"'\"'", "'")
    root = parse_yaml(decode_source(line.encode(), ""))
    assert root
    assert root.to_python() == ["cd 'packages/a b' && npm test"]


@pytest.mark.parametrize(
    ("commit", "ends"),
    [
        (True, "3. Leave your changes uncommitted: the run commits them as `task(s-1): Do s-1`\n"),
        (
            False,
            "3. Leave your changes uncommitted: the user commits them\n",
        ),
    ],
)
def test_the_prompt_names_what_the_map_does_and_who_commits(
    bakery: Shop, commit: bool, ends: str
) -> None:
    bakery.write("pyproject.toml", PYPROJECT)
    bakery.write("src/oven/__init__.py", "")
    bakery.commit("manifests")
    bakery.configure(run={"commit": commit})
    done = bakery.run_agent(WRITE, no_checks=True)
    prompt = bakery.read_prompt(done)
    assert "lint): `mypy src`; `pytest`; `ruff check`\n" in prompt
    assert prompt.endswith(ends)
    assert "- Inside a run, closing is a request" in prompt
