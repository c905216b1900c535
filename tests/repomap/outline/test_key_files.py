from __future__ import annotations

from collections.abc import Sequence

import pytest

from cub.repomap.listing.file_kinds import FileClassifier
from cub.repomap.map_types import KeyFile
from cub.repomap.outline.key_files import find_entry_file, find_key_files
from cub.repomap.stack.facts import EntryPoint


def key_files(paths: list[str], entries: Sequence[EntryPoint] = ()) -> tuple[KeyFile, ...]:
    return find_key_files(paths, entries, FileClassifier(paths))


@pytest.mark.parametrize(
    ("target", "source", "paths", "found"),
    [
        ("flask.cli:main", "pyproject.toml", ["src/flask/cli.py"], "src/flask/cli.py"),
        ("pkg.sub:main", "setup.cfg", ["pkg/sub/__init__.py"], "pkg/sub/__init__.py"),
        ("pkg", "pyproject.toml", ["pkg/__main__.py", "pkg/__init__.py"], "pkg/__main__.py"),
        ("pkg.cli:main [extra]", "setup.py", ["pkg/cli.py"], "pkg/cli.py"),
        ("./bin/run.js", "package.json", ["bin/run.js"], "bin/run.js"),
        ("bin/run", "packages/a/package.json", ["packages/a/bin/run"], "packages/a/bin/run"),
        ("lib/index.js", "package.json", ["lib/index.js", "src/index.js"], "lib/index.js"),
        ("cmd/hugo", "go.mod", ["cmd/hugo/main.go"], "cmd/hugo/main.go"),
        (".", "go.mod", ["main.go"], "main.go"),
        ("src/main.rs", "crates/a/Cargo.toml", ["crates/a/src/main.rs"], "crates/a/src/main.rs"),
        ("com.acme.Main", "pom.xml", ["src/main/java/com/acme/Main.java"],
         "src/main/java/com/acme/Main.java"),
        ("../outside.py", "pyproject.toml", ["outside.py"], ""),
        ("missing.module:main", "pyproject.toml", ["other.py"], ""),
        ("", "pyproject.toml", ["other.py"], ""),
    ],
)  # fmt: skip
def test_an_entry_point_leads_to_its_file(
    target: str, source: str, paths: list[str], found: str
) -> None:
    assert find_entry_file(EntryPoint("name", target, source), frozenset(paths)) == found


@pytest.mark.parametrize(
    ("paths", "rows"),
    [
        ([], []),
        (["README.md", "docs/readme.md"], ["README.md: overview"]),
        (
            ["Readme.rst", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGES.txt"],
            [
                "Readme.rst: overview",
                "CONTRIBUTING.md: how to contribute",
                "ARCHITECTURE.md: architecture",
                "CHANGES.txt: changes by version",
            ],
        ),
        (
            ["manage.py", "app/settings.py", "app/urls.py", "shop/migrations/0001_initial.py"],
            [
                "manage.py: entry point",
                "app/settings.py: settings",
                "app/urls.py: routes",
                "shop/migrations/: database migrations",
            ],
        ),
        (
            ["cmd/one/main.go", "cmd/two/main.go", "internal/gen/x/main.go"],
            ["cmd/one/main.go: entry point", "cmd/two/main.go: entry point"],
        ),
        (["src/App.tsx", "examples/src/App.tsx"], ["src/App.tsx: entry point"]),
        (["api/openapi.yaml", "schema.graphql"], [
            "schema.graphql: API definition", "api/openapi.yaml: API definition"]),
        (["prisma/schema.prisma"], ["prisma/schema.prisma: database schema"]),
        ([".env.example"], [".env.example: environment variables"]),
        (
            [".github/workflows/ci.yml", ".github/workflows/lint.yaml", ".github/CODEOWNERS"],
            [".github/workflows/: CI: ci, lint"],
        ),
        (["tests/test_a.py", "tests/unit/test_b.py"], ["tests/: tests: unit"]),
        (["src/pkg/__init__.py", "tests/test_a.py", "tests/__init__.py"], [
            "src/pkg/__init__.py: public names", "tests/: tests"]),
        (["proto/a.proto", "proto/b.proto"], ["proto/: API definition"]),
    ],
)  # fmt: skip
def test_what_a_newcomer_opens_first(paths: list[str], rows: list[str]) -> None:
    assert [f"{file.path}: {file.what}" for file in key_files(paths)] == rows
    assert key_files(paths[::-1]) == key_files(paths)


def test_entry_points_of_the_manifests_come_first_and_name_their_programs() -> None:
    entries = [
        EntryPoint("run", "pkg.cli:main", "pyproject.toml"),
        EntryPoint("go", "pkg.cli:other", "pyproject.toml"),
        EntryPoint("gone", "pkg.gone:main", "pyproject.toml"),
    ]
    assert [tuple(file) for file in key_files(["pkg/__main__.py", "pkg/cli.py"], entries)] == [
        ("pkg/cli.py", "entry point run, go"),
        ("pkg/__main__.py", "entry point"),
    ]


def test_there_are_not_too_many() -> None:
    paths = [f"cmd/c{n}/main.go" for n in range(100)] + [f"p{n}/settings.py" for n in range(100)]
    paths += ["README.md", "CHANGELOG.md"]
    assert len(key_files(paths)) <= 25
    assert key_files(paths)[-1].path == "CHANGELOG.md"
