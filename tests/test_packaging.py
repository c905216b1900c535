"""Whichever way cub is installed, it finds what ships with it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import copy_checkout, environment, tree
from tests.repomap.grammar_names import QUERY_NAMES

REPOSITORY = Path(__file__).parents[1]
# What ships beside the code: its folder in the package, and in the repository.
DATA = {
    "templates": "templates",
    "migrations": "migrations",
    "schemas": "docs/reference/schemas",
}

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not (find_spec("build") and find_spec("hatchling") and find_spec("pip")),
        reason="needs build, hatchling and pip",
    ),
]


def run(*command: str, cwd: Path, home: Path) -> str:
    """Run a command that must succeed, without this repository on Python's path."""
    env = {k: v for k, v in environment(home).items() if k != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a commit of everything here would hold."""
    folder = tmp_path_factory.mktemp("source")
    try:
        copy_checkout(REPOSITORY, folder)
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("needs a git checkout")
    for name in ("README.md", "LICENSE"):
        (folder / name).touch()  # the metadata names them
    return folder


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that is made of that sdist."""
    out = tmp_path_factory.mktemp("dist")
    python = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out))
    run(*python, str(source), cwd=out, home=out)
    return out


def data_files(source: Path) -> dict[str, bytes]:
    """Everything that ships beside the code, by its place in the package."""
    return {
        f"{name}/{path}": data
        for name, folder in DATA.items()
        for path, data in tree(source / folder).items()
    }


def test_every_data_file_is_in_the_wheel(source: Path, built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        found = {name: file.read(name) for name in file.namelist()}
    expected = {f"cub/{path}": data for path, data in data_files(source).items()}
    assert expected
    assert {name: data for name, data in found.items() if name in expected} == expected


def test_nothing_else_is_in_the_wheel(source: Path, built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    code = {f"cub/{path}" for path in tree(source / "cub")}
    assert names == code | {f"cub/{path}" for path in data_files(source)}


def test_the_queries_for_each_language_are_in_the_wheel(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = [name.rpartition("/")[2] for name in file.namelist() if "/symbols/queries/" in name]
    assert sorted(names) == sorted(f"{name}.scm" for name in QUERY_NAMES)


def test_the_sdist_holds_code_data_and_tests(source: Path, built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {f"cub/{path}" for path in tree(source / "cub")} <= names
    shipped = {f"{folder}/{path}" for folder in DATA.values() for path in tree(source / folder)}
    assert shipped <= names
    assert {"pyproject.toml", "LICENSE"} <= names


# The wheel is made of the sdist, and the sdist of a folder.
@pytest.fixture(params=["wheel", "editable", "checkout"])
def cub(
    request: pytest.FixtureRequest, source: Path, built: Path, tmp_path: Path
) -> tuple[str, ...]:
    """The command line of a cub that was installed in one of these ways."""
    if request.param == "checkout":
        return sys.executable, "-c", _MAIN.format(path=str(source))
    (wheel,) = built.glob("*.whl")
    what = [str(wheel)] if request.param == "wheel" else ["--editable", str(source)]
    # Bytecode of modules that nobody imports takes a second.
    quick = ("--quiet", "--disable-pip-version-check", "--no-compile")
    alone = ("--no-deps", "--ignore-installed")
    python = str(_environment(tmp_path / "venv"))
    pip = (python, "-m", "pip", "install", "--no-index", "--no-build-isolation")
    run(*pip, *quick, *alone, *what, cwd=tmp_path, home=tmp_path)
    return (str(Path(python).with_name("cub")),)


_MAIN = "import sys; sys.path.insert(0, {path!r}); from cub.__main__ import main; main()"


def _environment(folder: Path) -> Path:
    """A virtual environment that has what this one has, and no cub."""
    import venv

    venv.create(folder, symlinks=sys.platform != "win32")
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    (site,) = {Path(path) for path in folder.glob("[Ll]ib/**/site-packages")}
    paths = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site / "ours.pth").write_text("\n".join(paths), encoding="utf-8")
    return scripts / "python"


def test_an_installed_cub_finds_what_ships_with_it(cub: tuple[str, ...], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    assert run(*cub, "--version", cwd=project, home=tmp_path).startswith("cub ")
    run(*cub, "init", cwd=project, home=tmp_path)
    assert b"## Cub Integration" in (project / "AGENTS.md").read_bytes()
    assert (project / ".cub" / "constitution.md").read_bytes() == (
        REPOSITORY / "templates" / "files" / "constitution.md"
    ).read_bytes()
    run(*cub, "update", "--check", cwd=project, home=tmp_path)
    assert '"urn:cub:schema:v1:plan"' in run(*cub, "schema", "plan", cwd=project, home=tmp_path)
    run(*cub, "demo", cwd=project, home=tmp_path)
