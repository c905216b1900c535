from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from cub.errors import CubError
from cub.repomap.map_types import MapOmission
from cub.repomap.stack.facts import Fact, ProjectPackage, ProjectStack, Technology
from cub.repomap.stack.manifest import Manifest, ManifestReader
from cub.repomap.stack.read_stack import MAX_MANIFEST_BYTES, read_manifests
from tests.repomap.stack.projects import names, stack_of

PROJECT = {
    "pyproject.toml": "[project]\nname = 'acme'\ndependencies = ['flask']\n[tool.ruff]\n",
    "package.json": '{"name": "web", "scripts": {"test": "jest", "dev": "vite"}}',
    "Makefile": "test:\n\tpytest\nlint:\n\truff check\n",
    "tox.ini": "[testenv]\ncommands = pytest\n",
    "pnpm-workspace.yaml": "packages: ['*']\n",
    "api/package.json": '{"name": "api", "dependencies": {"express": "5"}}',
    "api/requirements.txt": "flask==1\n",
    ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - run: mypy .\n",
    ".github/workflows/test.yaml": "jobs:\n  a:\n    steps:\n      - run: pyright\n",
    "broken/package.json": "{",
    "broken/pyproject.toml": "=",
}


def test_the_order_of_paths_makes_no_difference() -> None:
    expected = stack_of(PROJECT)
    for seed in range(20):
        paths = list(PROJECT)
        random.Random(seed).shuffle(paths)
        assert read_manifests(paths, lambda path: PROJECT[path].encode()) == expected


CMAKE = "cmake -B build && cmake --build build && ctest --test-dir build"
XUNIT = '<ItemGroup><PackageReference Include="Microsoft.NET.Test.Sdk" /></ItemGroup>'
TESTS = {  # the file, what is in it, and what tests by it
    "dev group": ("pyproject.toml", "[dependency-groups]\ndev = ['pytest']\n", "pytest"),
    "extra": ("setup.cfg", "[options.extras_require]\ntest =\n  pytest>=8\n  tox\n", "pytest"),
    "setup.py": ("setup.py", "setup(extras_require={'dev': ['pytest>=8']})\n", "pytest"),
    "tests_require": ("setup.py", "setup(tests_require='pytest')\n", "pytest"),
    "pytest.ini": ("pytest.ini", "[pytest]\n", "pytest"),
    "tox": ("tox.ini", "[testenv]\ncommands = pytest\n", "tox -e py"),
    "nox": ("noxfile.py", "@nox.session\ndef tests(session): pass\n", "nox -s tests"),
    "npm": ("package.json", '{"scripts": {"test": "mocha"}}', "npm test"),
    "make": ("Makefile", "test:\n\t./run\n", "make test"),
    "just": ("justfile", "test:\n  ./run\n", "just test"),
    "cargo": ("Cargo.toml", "[package]\nname = 'a'\n", "cargo test"),
    "go": ("go.mod", "module example.com/a\n", "go test ./..."),
    "maven": ("pom.xml", "<project><artifactId>a</artifactId></project>", "mvn test"),
    "gradle": ("build.gradle", "plugins { id 'java' }\n", "gradle test"),
    "rspec": ("Gemfile", "gem 'rspec'\n", "bundle exec rspec"),
    "gem": ("a.gemspec", "s.add_development_dependency 'rspec'\n", "bundle exec rspec"),
    "rake": ("Rakefile", "RSpec::Core::RakeTask.new(:spec)\n", "rake spec"),
    "minitest": ("Rakefile", "Minitest::TestTask.create\n", "rake test"),
    "phpunit": (
        "composer.json", '{"require-dev": {"phpunit/phpunit": "^10"}}', "vendor/bin/phpunit"
    ),
    "mix": ("mix.exs", "def project do\n[app: :a]\nend\n", "mix test"),
    "ctest": ("CMakeLists.txt", "enable_testing()\n", CMAKE),
    "solution": ("A.slnx", "<Solution/>", "dotnet test"),
    "project": ("A.csproj", f"<Project>{XUNIT}</Project>", "dotnet test"),
    "deno": ("deno.json", "{}", "deno test"),
    "no tests": ("A.csproj", "<Project/>", ""),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "line"), TESTS.values(), ids=TESTS)
def test_what_tests_comes_with_the_file_that_names_it(path: str, text: str, line: str) -> None:
    for folder in ("", "packages/api/"):
        stack = stack_of({f"{folder}{path}": text})
        start = f"cd {folder.rstrip('/')} && " if folder else ""
        rows = [(command.shell_line, command.source) for command in stack.filter_commands("test")]
        assert rows == ([(start + line, folder + path)] if line else [])


def test_only_manifests_are_read() -> None:
    paths = ["a.py", "tests/pyproject.toml", "node_modules/x/package.json", "README.md", "setup"]

    def read(path: str) -> bytes:
        raise AssertionError(path)

    assert read_manifests(paths, read) == ProjectStack()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a = 1\nb = '\xff'\n", "line 2: byte 0xff is not UTF-8"),
        (b"\x7fELF\0\0", "this is a binary file: it has NUL bytes"),
        ("a = 1\n".encode("utf-16"), "this is a binary file: it has NUL bytes"),
        (
            b"a" * (MAX_MANIFEST_BYTES + 1),
            "this has 1,000,001 bytes, and cub reads no more than 1,000,000",
        ),
        (b"a = ", "this is not TOML: Invalid value"),
    ],
)
def test_a_file_that_is_no_text_costs_a_note(data: bytes, message: str) -> None:
    stack = stack_of({"pyproject.toml": data, "tox.ini": "[tox]\n"})
    assert stack.omissions == (MapOmission("pyproject.toml", message),)
    assert names(stack) == ["tox"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "this can't be read: Permission denied"),
        (FileNotFoundError(), "this can't be read: FileNotFoundError"),
        (CubError("this is a FIFO"), "this is a FIFO"),
    ],
)
def test_a_file_that_cannot_be_read_costs_a_note(error: Exception, message: str) -> None:
    def read(path: str) -> bytes:
        if path == "setup.cfg":
            raise error
        return b"[tox]\n"

    stack = read_manifests(["setup.cfg", "tox.ini"], read)
    assert stack.omissions == (MapOmission("setup.cfg", message),)
    assert names(stack) == ["tox"]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    text = b"\xef\xbb\xbf[project]\nname = 'a'\n"
    assert stack_of({"pyproject.toml": text}).packages[0].name == "a"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("line 3:  so\nnot"), "line 3: so not"),
        (RecursionError(), "too deeply nested"),
        (MemoryError(), "too deeply nested"),
        (SyntaxError("bad", ("f", 7, 1, "x")), "line 7: bad"),
        (ValueError("x" * 500), "x" * 200),
    ],
)
def test_what_a_reader_raises_costs_what_it_would_have_read(error: Exception, message: str) -> None:
    def fails(manifest: Manifest) -> Iterator[Fact]:  # noqa: ARG001
        raise error

    def works(manifest: Manifest) -> Iterator[Fact]:
        yield Technology("X", "tool", "", manifest.path)

    stack = stack_of({"x": ""}, [ManifestReader(("x",), fails), ManifestReader(("x",), works)])
    assert stack.omissions == (MapOmission("x", message),)
    assert names(stack) == ["X"]


def test_at_most_300_manifests_are_read_the_shallow_ones() -> None:
    files = {f"a/b{n:03}/package.json": f'{{"name": "p{n}"}}' for n in range(350)}
    files["package.json"] = '{"name": "root"}'
    stack = stack_of(files)
    assert len(stack.packages) == 300
    assert stack.packages[0].name == "root"
    assert stack.packages[-1].folder == "a/b298"
    message = "this and 50 deeper manifests are left out: 300 are read"
    assert stack.omissions == (MapOmission("a/b299/package.json", message),)


def test_facts_are_made_fit_to_be_shown() -> None:
    text = (
        '[project]\nname = "a\\nb"\ndescription = "one\\n# two\\u202e\\u0000 three"\n'
        'requires-python = ">=3 `x`"\ndependencies = ["flask>=1\\n2"]\n'
        '[project.scripts]\n"x\\ny" = "a:b"\nok = "a:b\\u0007"\nfine = "a:b"\n'
        "[tool.uv.sources]\n[tool.ruff]\n"
    )
    stack = stack_of({"pyproject.toml": text})
    assert stack.packages == ()
    assert [one.name for one in stack.entry_points] == ["fine"]
    assert names(stack)[:2] == ["Python", "Flask >=1 2"]


def test_a_description_is_one_line_of_a_sensible_length() -> None:
    text = f"[project]\nname = 'a'\ndescription = '''one\n  two {'three ' * 100_000}'''\n"
    description = stack_of({"pyproject.toml": text}).packages[0].description
    assert description.startswith("one two three three")
    assert len(description) <= 300
    assert description.endswith("three…")


def test_a_package_is_one_folder_and_the_first_name_counts() -> None:
    def packages(manifest: Manifest) -> Iterator[Fact]:
        yield ProjectPackage("", manifest.text, "", manifest.path)

    stack = stack_of(
        {"b": "two", "a": "", "c": "three"}, [ManifestReader(("a", "b", "c"), packages)]
    )
    assert [one.name for one in stack.packages] == ["two"]


def test_a_technology_is_named_once_with_the_first_version() -> None:
    def technologies(manifest: Manifest) -> Iterator[Fact]:
        name, _, version = manifest.text.partition(" ")
        yield Technology(name, "tool", version, manifest.path)

    files = {"a/x": "Ruff 1", "x": "Ruff", "b/x": "ruff 2", "c/x": "Black"}
    stack = stack_of(files, [ManifestReader(("x",), technologies)])
    assert stack.technologies == (
        Technology("Ruff", "tool", "1", "x"),
        Technology("Black", "tool", "", "c/x"),
    )


def test_what_is_no_manifest_imports_no_reader() -> None:
    code = (
        "import sys\nfrom cub.repomap.stack.read_stack import read_manifests\n"
        "read_manifests(['src/app.rs', 'README.md', 'a/b.c', 'deny.toml'], lambda path: b'')\n"
        "print([name for name in sys.modules if name.startswith('cub.repomap.stack.readers')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
