from __future__ import annotations

import pytest

from cub.repomap.stack.command_lines import find_install_command
from cub.repomap.stack.facts import ProjectCommand, ProjectStack

SEVERAL = ("npm install", "pip install -r requirements.txt", "bundle install")


@pytest.mark.parametrize(
    ("line", "installs", "expected"),
    [
        # A command of the line's own ecosystem installs.
        ("npm test", SEVERAL, "npm install"),
        ("npx --no-install mocha", SEVERAL, "npm install"),
        ("node_modules/.bin/jest", SEVERAL, "npm install"),
        ("CI=1 pytest -q", SEVERAL, "pip install -r requirements.txt"),
        (".venv/bin/python -m unittest", SEVERAL, "pip install -r requirements.txt"),
        ("ruff check && pytest", SEVERAL, "pip install -r requirements.txt"),
        ("bundle exec rspec", SEVERAL, "bundle install"),
        ("uv run pytest", ("uv sync",), "uv sync"),
        ("pnpm lint", ("pnpm install",), "pnpm install"),
        ("vendor/bin/phpunit", ("npm install", "composer install"), "composer install"),
        ("mix test", ("mix deps.get",), "mix deps.get"),
        ("pytest", ("npm install",), ""),
        ("cargo test", ("npm install",), ""),
        ("cargo test", (), ""),
        # A target of the project installs for anything.
        ("npm test", ("make setup", "npm install"), "make setup"),
        ("cargo test", ("bin/setup",), "bin/setup"),
        # A line that tells no ecosystem is of the only one that there is.
        ("make test", ("npm install",), "npm install"),
        ("make test", SEVERAL, ""),
        ("", ("npm install",), "npm install"),
        # Of the folders above, the nearest counts.
        ("cd packages/api && pytest", ("packages/api: uv sync", "pip install -e ."), "uv sync"),
        ("cd packages/web && npm test", ("packages/api: uv sync", "npm install"), "npm install"),
        ("cd ./a/b && npm test", ("npm install", "a: npm ci", "a/bc: yarn"), "npm ci"),
        ("npm test", ("web: npm install",), ""),
    ],
)
def test_what_installs_for_a_command(line: str, installs: tuple[str, ...], expected: str) -> None:
    commands = (ProjectCommand("test", line, "x"), *map(_make_install, installs))
    command = find_install_command(ProjectStack(commands=commands), line)
    assert (command.text if command else "") == expected


def _make_install(row: str) -> ProjectCommand:
    folder, _, text = row.rpartition(": ")
    return ProjectCommand("install", text, "x", folder)
