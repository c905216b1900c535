from __future__ import annotations

import pytest

from cub.repomap.stack.command_lines import make_command_key, split_commands, unwrap_command
from cub.repomap.stack.command_purposes import (
    detect_command_purpose,
    detect_name_purpose,
    detect_target_purpose,
    rank_target_name,
)

NAMES = {
    "test": "test tests unit-tests test:unit testUnit spec check e2e cypress:run TEST test_all"
    " run-tests",
    "lint": "lint linting style eslint lint:js check-format format:check fmt-check clippy",
    "format": "format fmt lint:fix lint-fix fix prettier formatAll",
    "typecheck": "typecheck type-check check-types types typing mypy tsc test:types build:types",
    "build": "build compile dist bundle build:prod",
    "run": "dev start serve run dev:server start-server",
    "install": "install setup bootstrap deps",
    "": "docs docs:build build-docs test:watch watch clean release publish deploy coverage bench x"
    " test-update-snapshots docker-build é run-all",
}


@pytest.mark.parametrize(
    ("name", "purpose"),
    [(name, purpose) for purpose, names in NAMES.items() for name in names.split()],
)
def test_a_name_tells_the_purpose(name: str, purpose: str) -> None:
    assert (detect_name_purpose(name) or "") == purpose


LINES = {
    "test": """
        pytest -q
        CI=1 uv run --locked --group dev python -m pytest tests
        python -m unittest
        python manage.py test
        python -Wall tests/runtests.py -v2
        {envpython} runtests.py {posargs}
        ./scripts/test.sh --all
        bash ci/run_tests.sh
        coverage run -m pytest
        poetry run pytest
        tox
        npm test
        npm run test:unit
        pnpm -r test
        yarn jest
        npx --no-install vitest run
        cross-env NODE_ENV=test mocha
        deno test -A
        make test
        ./configure && make && make check
        go test ./...
        cargo nextest run
        ./gradlew test
        mvn -B verify
        bundle exec rspec
    """,
    "lint": """
        ruff check .
        ruff format --check
        node scripts/lint.mjs
        black --check src
        tox -e style
        pre-commit run --all-files
        eslint .
        prettier --check .
        cargo fmt --all -- --check
        golangci-lint run
    """,
    "format": """
        ruff format
        ruff check --fix
        eslint . --fix
        prettier --write .
        cargo fmt
    """,
    "typecheck": """
        mypy .
        pyright
        tox -e typing
        tsc --noEmit
        npx tsc --noEmit -p .
        vue-tsc
    """,
    "build": """
        make
        tsc
        tsc -b && vite build
        next build
        python -m build
        ./build.sh
        uv build
        cargo build
    """,
    "run": """
        python manage.py runserver
        flask run
        next dev
        vite
        npm start
        cargo run -p x
    """,
    "install": """
        npm ci
        yarn
        pip install -e .
        uv sync
        bundle install
    """,
    "": """
        echo test
        rm -rf dist
        git push
        node dist/index.js
        python -c 1
        ./run-it/all
        tox -e docs
        pnpm -r check
        && ||
        make clean
        npm run docs
        yarn docs:build
        uv run
        coverage html
        =
    """,
}


@pytest.mark.parametrize(
    ("line", "purpose"),
    [
        (line.strip(), purpose)
        for purpose, lines in LINES.items()
        for line in lines.strip().split("\n")
    ],
)
def test_a_command_line_tells_the_purpose(line: str, purpose: str) -> None:
    assert (detect_command_purpose(line) or "") == purpose


@pytest.mark.parametrize(
    ("name", "line", "purpose"),
    [
        ("check", "svelte-check", "typecheck"),
        ("check", "biome check .", "lint"),
        ("check", "", "test"),
        ("check", "./scripts/all.sh", "test"),
        ("ci", "npm run lint && npm test", "test"),
        ("lint", "node scripts/all.js", "lint"),
        ("test", "eslint . && mocha", "test"),
        ("schema", "pip install x\npython make_schema.py", None),
        ("watch", "tsc --watch", None),
        ("run_self", "black --check .", None),
        ("validate", "cargo clippy", "lint"),
        ("dev", "npm run x && rollup -cw", None),
        ("start", "npm run build && node dist", "run"),
        ("dev", "node server.js", "run"),
        ("coverage", "pytest --cov", None),
    ],
)
def test_what_a_target_runs_decides_where_its_name_says_too_little(
    name: str, line: str, purpose: str | None
) -> None:
    assert detect_target_purpose(name, line) == purpose


def test_the_plainest_name_comes_first() -> None:
    names = ["test:unit:ci", "test:unit", "tests", "test"]
    assert sorted(names, key=rank_target_name) == ["test", "tests", "test:unit", "test:unit:ci"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest", "uv run python -m pytest -q", True),
        ("npm test", "npm run test", True),
        ("ruff check", "ruff check --no-cache .", True),
        ("ruff check", "ruff format", False),
        ("tox -e lint", "tox -e docs", False),
        ("cd x && npm test", "npm test", False),
    ],
)
def test_options_and_wrappers_make_no_other_command(one: str, other: str, same: bool) -> None:
    assert (make_command_key(one) == make_command_key(other)) is same


def test_a_line_is_taken_apart() -> None:
    assert split_commands("a && b; c || d | e\n f ;") == ["a", "b", "c", "d", "e", "f"]
    assert unwrap_command("FOO=1 BAR= sudo env X=y uv run --extra dev -q pytest -k a") == [
        "pytest", "-k", "a",
    ]  # fmt: skip
