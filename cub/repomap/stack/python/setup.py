"""setup.cfg and setup.py: the project, what it needs and its programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.repomap.stack.around import beside
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.ini import sections, values
from cub.repomap.stack.formats.trees import table, text_at, texts
from cub.repomap.stack.merging import joined
from cub.repomap.stack.python.requirements import split, technologies
from cub.repomap.stack.python.setup_py import setup_keywords
from cub.repomap.stack.python.tools import runner, tools
from cub.repomap.stack.python.tox import tox_ini

_MOST_PROGRAMS = 12


def _setup_py(manifest: Manifest) -> Facts:
    found = setup_keywords(manifest.text)
    needs, points = found.get("install_requires"), found.get("entry_points")
    scripts = sections(points) if isinstance(points, str) else table(points)
    programs = scripts.get("console_scripts", ())
    return _project(
        manifest,
        Package(
            manifest.folder, text_at(found, "name"), text_at(found, "description"), manifest.path
        ),
        text_at(found, "python_requires"),
        values(needs) if isinstance(needs, str) else texts(list(_items(needs))),
        _lines_of(programs),
    )


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _lines_of(programs: object) -> list[str]:
    """`name = module:function`, from a list, a text, or the options of a section."""
    if isinstance(programs, dict):
        return [f"{name} = {target}" for name, target in programs.items()]
    return values(programs) if isinstance(programs, str) else texts(list(_items(programs)))


def _setup_cfg(manifest: Manifest) -> Facts:
    found = sections(manifest.text)
    about, options = found.get("metadata", {}), found.get("options", {})
    own = _project(
        manifest,
        Package(
            manifest.folder, about.get("name", ""), about.get("description", ""), manifest.path
        ),
        options.get("python_requires", ""),
        values(options.get("install_requires", "")),
        values(found.get("options.entry_points", {}).get("console_scripts", "")),
    )
    tox = tox_ini(manifest, manifest.text, "") if "tox:tox" in found else ()
    return joined(own, Facts(commands=tox), configured(manifest, found))


def configured(manifest: Manifest, found: dict[str, dict[str, str]]) -> Facts:
    """The tools with a section in setup.cfg, tox.ini or a file of their own."""
    names = [name.removeprefix("tool:").partition(":")[0] for name in found]
    has_files = "files" in found.get("mypy", {}) or "packages" in found.get("mypy", {})
    instead = {"mypy": "mypy"} if has_files else {}
    return tools(manifest, names, typed=runner(manifest), instead=instead)


def _project(
    manifest: Manifest, package: Package, python: str, needs: list[str], programs: list[str]
) -> Facts:
    """The facts of a project; those of one whose name stands elsewhere are only what it needs."""
    source = manifest.path
    commands = _commands(manifest) if package.name else ()
    points = (line.partition("=") for line in programs[:_MOST_PROGRAMS])
    return Facts(
        (
            Technology("Python", "language", python, source),
            *technologies(map(split, needs), source),
        ),
        tuple(commands),
        tuple(
            EntryPoint(name.strip(), start.partition("[")[0].strip(), source)
            for name, _, start in points
        ),
        (package,),
    )


def _commands(manifest: Manifest) -> Iterator[Command]:
    """Unless a pyproject.toml beside it tells how."""
    if not beside(manifest, "pyproject.toml"):
        yield Command("install", "pip install -e .", manifest.path, manifest.folder)


READERS = (Reader(("setup.py",), _setup_py), Reader(("setup.cfg",), _setup_cfg))
