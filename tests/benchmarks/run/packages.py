"""Real packages with one broken expression each, and where they come from.

`python -m tests.benchmarks.run.packages FOLDER` downloads what FOLDER lacks: the archives with pip
and npm, an environment with pytest, and the `node_modules` of the npm packages. It needs nothing
that is not in the standard library.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

_TESTS_OF_PYTHON = ("pytest>=9", "freezegun")
_TESTS_OF_NODE = {"tape": "5", "nyc": "10"}
_PYTEST = "python/bin/pytest"
_REQUIRED = re.compile(r"require\('([^.'/][^'/]*)")


class Package(NamedTuple):
    """A package, an expression of it, and what replaces the expression.

    `broken` makes a test fail. `wrong` makes one fail as well, but not in the same way. `check`
    runs the tests, of which `test` is the file that has the failing one. Of the test files that
    are beside it, only `kept` are in the repository if any are named.
    """

    name: str
    version: str
    file: str
    good: str
    broken: str
    wrong: str
    check: str
    test: str
    kept: tuple[str, ...] = ()

    @property
    def is_node(self) -> bool:
        """Whether it is a package of npm."""
        return self.file.endswith(".js")

    @property
    def import_folder(self) -> str:
        """The folder from which Python imports it, relative to the project root."""
        return "src" if self.file.startswith("src/") else ""

    def find_archive(self, folder: Path) -> Path | None:
        """Return the downloaded archive; None if there is none."""
        name = self.name.replace("-", "?")
        return next(folder.glob(f"archives/{name}-{self.version}.t*gz"), None)

    def is_there(self, folder: Path) -> bool:
        """Return whether the folder of downloads has it, and what its tests need."""
        tools = f"node/{self.name}" if self.is_node else _PYTEST
        return (folder / tools).exists() and self.find_archive(folder) is not None


PYTEST, NPM = "pytest -q", "npm test"
_NO_VALUE = "if (!value)"
_NO_OBJECT = "\t\tif (typeof value !== 'function' && typeof value !== 'object')"
PACKAGES = (
    Package(
        "inflection", "0.5.1", "inflection/__init__.py",
        "return word.lower()\n", "return word.swapcase()\n", "return word.capitalize()\n",
        PYTEST, "test_inflection.py",
    ),
    Package(
        "first", "2.0.2", "first.py",
        "if key(el):", "if not key(el):", "if el is key:",
        PYTEST, "test_first.py",
    ),
    Package(
        "humanize", "4.17.0", "src/humanize/number.py",
        "in (11, 12, 13)", "in (11, 12)", "in (11, 13)",
        PYTEST, "tests/test_number.py", ("tests/test_number.py", "tests/test_lists.py"),
    ),
    Package(
        "boltons", "26.2.0", "boltons/mathutils.py",
        "return min(max(x, lower), upper)", "return min(x, upper)", "return max(x, lower)",
        PYTEST, "tests/test_mathutils.py",
        ("tests/test_mathutils.py", "tests/test_listutils.py", "tests/test_setutils.py"),
    ),
    Package(
        "more-itertools", "11.2.1", "more_itertools/recipes.py",
        "            return False\n        return True\n    return True\n",
        "            return True\n        return True\n    return True\n",
        "            return True\n        return True\n    return False\n",
        "python -m unittest tests.test_recipes -k TakeTests -k AllEqualTests -k NthTests",
        "tests/test_recipes.py", ("tests/test_recipes.py",),
    ),
    Package(
        "text-unidecode", "1.3", "src/text_unidecode/__init__.py",
        "_replaces[codepoint-1]", "_replaces[codepoint]", "_replaces[codepoint-2]",
        PYTEST, "test_unidecode.py",
    ),
    Package(
        "roman", "5.2", "src/roman/__init__.py",
        "('XC', 90)", "('XC', 91)", "('XC', 89)",
        "python -m unittest discover -s src -p tests.py", "src/tests.py",
    ),
    Package(
        "is-callable", "1.2.7", "index.js",
        f"{_NO_VALUE} {{ return false; }}\n{_NO_OBJECT} {{ return false; }}\n\t\ttry",
        f"{_NO_VALUE} {{ return true; }}\n{_NO_OBJECT} {{ return false; }}\n\t\ttry",
        f"{_NO_VALUE} {{ return false; }}\n{_NO_OBJECT} {{ return true; }}\n\t\ttry",
        NPM, "test/index.js",
    ),
    Package(
        "minimist", "1.2.8", "index.js",
        "(/^0x[0-9a-f]+$/i)", "(/^0x[0-9]+$/i)", "(/^0x[0-8]+$/i)",
        NPM, "test/num.js",
    ),
    Package(
        "qs", "6.17.1", "lib/utils.js",
        "((i < 16 ?", "((i < 8 ?", "((i < 4 ?",
        NPM, "test/utils.js",
    ),
)  # fmt: skip


def fetch_packages(folder: Path) -> None:
    """Download what the folder lacks."""
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    python = (folder / _PYTEST).with_name("python")
    if not (folder / _PYTEST).exists():
        _run([sys.executable, "-m", "venv", str(python.parents[1])], folder)
        _run([str(python), "-m", "pip", "install", "-q", *_TESTS_OF_PYTHON], folder)
    for package in PACKAGES:
        if not package.find_archive(folder):
            _run(_get_download(package, python), archives)
        if package.is_node and not (folder / "node" / package.name).exists():
            _install_node_modules(package, folder)


def _get_download(package: Package, python: Path) -> list[str]:
    if package.is_node:
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    pip = [str(python), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    return [*pip, f"{package.name}=={package.version}"]


def _install_node_modules(package: Package, folder: Path) -> None:
    """Install what the package and its tests import, and no linter."""
    unpacked = folder / "node" / f"{package.name}.new"
    unpack(package, folder, unpacked)
    manifest = json.loads((unpacked / "package.json").read_text(encoding="utf-8"))
    texts = (path.read_text(encoding="utf-8") for path in unpacked.glob("test/**/*.js"))
    names = {name for text in texts for name in _REQUIRED.findall(text)}
    tests = {name: of for name, of in manifest["devDependencies"].items() if name in names}
    wanted = {**manifest.get("dependencies", {}), **tests, **_TESTS_OF_NODE}
    (unpacked / "package.json").write_text(json.dumps({"dependencies": wanted}), encoding="utf-8")
    _run(["npm", "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts"], unpacked)
    unpacked.rename(folder / "node" / package.name)


def unpack(package: Package, folder: Path, root: Path) -> None:
    """Write the files of the downloaded archive to a new folder `root`."""
    archive = package.find_archive(folder)
    assert archive is not None, f"{package.name} is not in {folder}"
    root.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name:
                tar.extract(member, root, filter="data")


def _run(command: list[str], cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, check=True, timeout=600)


if __name__ == "__main__":
    fetch_packages(Path(sys.argv[1]).resolve())
