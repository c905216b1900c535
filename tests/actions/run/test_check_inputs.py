"""Changes of what checks go by: told, in the commit as well, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.run.check_inputs import find_changed_inputs, find_protected_path, record_inputs
from tests.actions.run.attacked import CHECK, is_untouched, prepare
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.conftest import git
from tests.examples import keep_few


def _prepare(made: Shop) -> None:
    prepare(made)
    made.write("tests/test_a.py", "assert True\n")
    made.write("tools/lint", "#!/bin/sh\ntrue\n").chmod(0o755)
    made.write("Makefile", "test:\n\tsh check.sh\n")
    git(made.root, "add", ":!notes.txt")
    git(made.root, "commit", "-qm", "tests")


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


@pytest.mark.parametrize(
    ("agent", "checks", "told"),
    [
        ("echo 'grep -q A a.py' > check.sh; echo C > c.py", CHECK,
         "check.sh, which the check `sh check.sh` goes by, was changed"),
        ("echo true > tools/lint; echo C > c.py", "./tools/lint",
         "tools/lint, which the check `./tools/lint` goes by, was changed"),
        ("rm tests/test_a.py; echo C > c.py", "true", "the test tests/test_a.py was deleted"),
        ("echo '# fits' >> tests/test_a.py", "grep -q fits tests/test_a.py",
         "a check failed before, and only tests were changed: tests/test_a.py"),
        ("printf 'test:\\n\\ttrue\\n' > GNUmakefile; echo C > c.py", "make test",
         "GNUmakefile, which the check `make test` goes by, is new"),
    ],
)  # fmt: skip
def test_it_is_told_in_the_event_and_in_the_commit(
    shop: Shop, agent: str, checks: str, told: str
) -> None:
    """21: nobody was told."""
    shop.configure(run={"allow_removed_tests": True})
    done = shop.run_agent(agent, checks=checks, once=True)
    assert done.outcomes == ["ok"]
    assert told in done.of("attempt_end")[0]["obs"]
    assert told in done.notices
    message = git(shop.root, "log", "-1", "--format=%B", "--grep", "task(s-1)")
    assert message.startswith("task(s-1): Do s-1\n\nReview these changes:\n")
    assert f"\n- {told}\n" in message


def test_what_changes_nothing_of_it_is_not_told(shop: Shop) -> None:
    done = shop.run_agent("echo C > c.py; touch check.sh", checks=CHECK, once=True)
    assert "obs" not in done.of("attempt_end")[0]
    assert git(shop.root, "log", "-1", "--format=%b", "--grep", "task(s-1)") == "\n"


@pytest.mark.parametrize(
    ("pattern", "agent"),
    keep_few(
        [
            ("/check.sh", "echo true > check.sh"),
            ("check.*", "rm check.sh; git add -A; git commit -qm x"),
            ("tests/", "echo new > tests/test_b.py"),
            ("tools", "echo true > tools/lint"),
        ],
        3,
    ),
)
def test_what_is_protected_fails_the_attempt(shop: Shop, pattern: str, agent: str) -> None:
    shop.configure(run={"protect": [pattern]})
    done = shop.run_agent(f"echo C > c.py; {agent}", checks=(CHECK, "./tools/lint"), once=True)
    assert done.outcomes == ["protected"]
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert "was changed, which run.protect forbids" in reason
    assert done.of("attempt_end")[0]["fail"]["charge"]
    assert not (shop.root / "c.py").exists()
    assert is_untouched(shop)


def test_an_agent_that_loosens_it_changes_nothing_in_this_run(shop: Shop) -> None:
    shop.configure(run={"protect": ["check.sh"]})
    done = shop.run_agent("rm .cub/config.yaml; echo true > check.sh", checks=CHECK, iterations=2)
    assert done.outcomes == ["protected", "protected"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sh check.sh", ["check.sh"]),
        ("cd . && ./check.sh || exit 1", ["check.sh"]),
        ("python -m pytest --config=tox.ini", ["tox.ini", "conftest.py"]),
        ("make -k test", ["Makefile"]),
        ("npm test; FOO=check.sh x", ["check.sh", "package.json"]),
        ("'unclosed check.sh", ["check.sh"]),
        ("lint-here", ["bin/lint-here"]),
        ("cat /etc/hostname ../outside . nothing", []),
    ],
)
def test_what_a_command_goes_by(tmp_path: Path, command: str, files: list[str]) -> None:
    root = tmp_path / "project"
    (root / "bin").mkdir(parents=True)
    (tmp_path / "outside").touch()
    for name in ("check.sh", "tox.ini", "conftest.py", "Makefile", "package.json"):
        (root / name).write_text(name)
    (root / "bin/lint-here").write_text("#!/bin/sh\n")
    (root / "bin/lint-here").chmod(0o755)
    path = f"{root / 'bin'}:/usr/bin"
    before = record_inputs(root, [command], path)
    assert {one.path for one in before} == set(files)
    assert find_changed_inputs(before, record_inputs(root, [command], path)) == []
    for name in files:
        (root / name).write_text("other")
    changed = find_changed_inputs(before, record_inputs(root, [command], path))
    assert {one.path for one in changed} == set(files)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("make test", "GNUmakefile"),
        ("pytest -q", "tests/conftest.py"),
        ("python -m pytest", "pytest.ini"),
        ("python -m pytest", "setup.cfg"),
        ("python -m pytest", "pytest.py"),
        ("python -m unittest", "unittest/__init__.py"),
        ("python run_all.py", "sitecustomize.py"),
        ("make check", "conftest.py"),  # the Makefile calls pytest
        ("npm test", "node_modules/.bin/mocha"),
        ("npm test", ".npmrc"),
        ("npm test", "vitest.config.ts"),
        ("cd packages/a && npm test", "packages/a/package.json"),
        ("npm test --workspaces", "packages/a/package.json"),  # the root's manifest names them
        ("make -C libs all", "libs/Makefile"),
        ("make check", "libs/Makefile"),  # the Makefile calls the one of libs
        ("(cd libs; pytest)", "libs/tox.ini"),
        ("npm test", "packages/b/.npmrc"),
        ("npm --prefix=libs test", "libs/jest.config.js"),
        ("npm test", "lerna.json"),
    ],
)
def test_a_new_file_that_decides_is_noticed(tmp_path: Path, command: str, path: str) -> None:
    """R20: only files that were there were compared."""
    (tmp_path / "Makefile").write_text("check:\n\tpytest -q\n\t$(MAKE) -C libs\n")
    manifest = '{"workspaces": ["packages/*"], "scripts": {"test": "mocha --bail"}}'
    (tmp_path / "package.json").write_text(manifest)
    before = record_inputs(tmp_path, [command], None)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("x = 1\n")
    changed = find_changed_inputs(before, record_inputs(tmp_path, [command], None))
    assert [one.path for one in changed] == [path]


@pytest.mark.parametrize(
    ("path", "old", "new", "counts"),
    [
        ("package.json", '{"scripts": {"test": "mocha"}}',
         '{"scripts": {"test": "mocha"}, "dependencies": {"a": "1"}}', False),
        ("package.json", '{"scripts": {"test": "mocha"}}', '{"scripts": {"test": "true"}}', True),
        ("pyproject.toml", "[project]\nname = 'a'\n",
         "[project]\nname = 'a'\ndependencies = ['b']\n", False),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '--co'\n", True),
    ],
)  # fmt: skip
def test_of_a_manifest_only_what_steers_a_check_counts(
    tmp_path: Path, path: str, old: str, new: str, counts: bool
) -> None:
    commands = ["npm test", "pytest"]
    (tmp_path / path).write_text(old)
    before = record_inputs(tmp_path, commands, None)
    (tmp_path / path).write_text(new)
    assert bool(find_changed_inputs(before, record_inputs(tmp_path, commands, None))) == counts


def test_a_large_tool_is_told_by_what_the_disk_says(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"x" * (2 << 20))
    before = record_inputs(tmp_path, ["./tool"], None)
    assert record_inputs(tmp_path, ["./tool"], None) == before
    with tool.open("r+b") as file:
        file.write(b"y")
    after = record_inputs(tmp_path, ["./tool"], None)
    assert [one.path for one in find_changed_inputs(before, after)] == ["tool"]
    tool.unlink()
    after = record_inputs(tmp_path, ["./tool"], None)
    assert [one.path for one in find_changed_inputs(before, after)] == ["tool"]


def test_patterns_are_those_of_a_gitignore() -> None:
    assert find_protected_path(["*.lock", "!free.lock"], ["free.lock", "a/x.lock"]) == "a/x.lock"
    assert find_protected_path([], ["a"]) == ""
    assert find_protected_path(["/tests/"], ["src/tests/a.py"]) == ""
