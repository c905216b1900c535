from __future__ import annotations

from collections.abc import Sequence

import pytest

from cub.repomap.listing.file_kinds import FileClassifier
from cub.repomap.outline.conventions import list_conventions
from cub.repomap.stack.facts import Technology


def conventions(
    paths: list[str], technologies: Sequence[Technology] = (), text: bytes = b""
) -> list[str]:
    """The statements on a project whose files all have the same text."""
    return list(list_conventions(paths, technologies, FileClassifier(paths), lambda _: text))


def _tools(*names: str) -> list[Technology]:
    return [Technology(name, "tool", "", "pyproject.toml") for name in names]


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([], []),
        (["pkg/a.py", "tests/test_a.py", "tests/test_b.py"], []),
        (["pkg/a.py", *(f"tests/test_{n}.py" for n in range(5))], ["tests in tests/: test_*.py"]),
        (
            [f"{top}{name}.py" for name in ("a/x", "b/x", "c/x") for top in ("src/p/", "tests/")]
            + ["tests/a/test_x.py", "tests/b/test_x.py", "tests/c/test_x.py"],
            ["tests in tests/, laid out like src/p/: test_*.py"],
        ),
        (
            [f"pkg/{n}{end}.go" for n in "abc" for end in ("", "_test")],
            ["tests beside the code: *_test.go"],
        ),
        (
            [f"src/__tests__/{n}.spec.ts" for n in "abc"] + ["src/a.ts"],
            ["tests in __tests__/ beside the code: *.spec.ts"],
        ),
        (
            [f"m/src/test/java/a/{n}Test.java" for n in "ABC"] + ["m/src/main/java/a/A.java"],
            ["tests in src/test/java/: *Test.java"],
        ),
        (
            [
                *(f"tests/test_{n}.py" for n in "abc"),
                *(f"tests/{n}_test.py" for n in "def"),
                "a.py",
            ],
            ["tests in tests/: *_test.py and test_*.py"],
        ),
        (
            [
                *(f"one/tests/test_{n}.py" for n in "abc"),
                *(f"two/tests/test_{n}.py" for n in "abc"),
            ],
            ["tests are named test_*.py"],
        ),
    ],
)
def test_where_the_tests_are(paths: list[str], said: list[str]) -> None:
    assert conventions(paths) == said


@pytest.mark.parametrize(
    ("paths", "tools", "said"),
    [
        ([], ["Ruff"], ["formatted with Ruff", "linted with Ruff"]),
        (
            [],
            ["Black", "isort", "Flake8", "mypy"],
            ["formatted with Black and isort", "linted with Flake8", "types checked with mypy"],
        ),
        (
            ["eslint.config.mjs", ".prettierrc"],
            [],
            ["formatted with Prettier", "linted with ESLint"],
        ),
        (["packages/a/.prettierrc"], [], []),
        (["rustfmt.toml"], [], ["formatted with rustfmt"]),
        (
            [".pre-commit-config.yaml", ".husky/pre-commit"],
            [],
            ["commit hooks: pre-commit and Husky"],
        ),
        ([".editorconfig"], [], ["editor settings in .editorconfig"]),
        ([], ["pytest", "React"], []),
    ],
)
def test_which_tools_are_configured(paths: list[str], tools: list[str], said: list[str]) -> None:
    assert conventions(paths, _tools(*tools)) == said


def test_a_framework_of_the_same_name_is_no_tool() -> None:
    assert not conventions([], [Technology("Standard", "framework", "", "package.json")])


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "tsconfig.json",
            b'{"compilerOptions": {"strict": true}}',
            "TypeScript is strict (tsconfig.json)",
        ),
        ("tsconfig.json", b'{\n  // "strict": true\n}', ""),
        (
            "pyproject.toml",
            b"[tool.mypy]\nfiles = 1\nstrict = true\n",
            "mypy is strict (pyproject.toml)",
        ),
        ("pyproject.toml", b"[tool.mypy]\r\nstrict = true\r\n", "mypy is strict (pyproject.toml)"),
        ("pyproject.toml", b"[tool.mypy]\n[tool.other]\nstrict = true\n", ""),
        ("pyproject.toml", b"\xff\xfe\x00", ""),
        ("mypy.ini", b"[mypy]\nstrict = True\n", "mypy is strict (mypy.ini)"),
    ],
)
def test_how_strictly_types_are_checked(path: str, text: bytes, said: str) -> None:
    found = conventions([path], text=text)
    assert [row for row in found if "strict" in row] == ([said] if said else [])
