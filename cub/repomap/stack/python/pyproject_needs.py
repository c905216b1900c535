"""What a pyproject.toml says that the project needs: at run time, and for its developers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.formats.trees import at, table, text_at, texts
from cub.repomap.stack.python.requirements import Needed, normal, split


def needed(tree: dict[str, Any]) -> Iterator[Needed]:
    """What a program needs to run; of extras, nothing."""
    for requirement in texts(at(tree, "project", "dependencies")):
        yield split(requirement)
    yield from _of_poetry(at(tree, "tool", "poetry", "dependencies"))


def needed_by_developers(tree: dict[str, Any]) -> list[Needed]:
    """What extras and groups of dependencies hold, those of all managers."""
    tool = table(tree.get("tool"))
    tables = (
        at(tree, "project", "optional-dependencies"),
        tree.get("dependency-groups"),
        at(tool, "pdm", "dev-dependencies"),
        {"": at(tool, "uv", "dev-dependencies")},
        {"": at(tool, "rye", "dev-dependencies")},
    )
    plain = [
        split(one) for each in tables for group in table(each).values() for one in texts(group)
    ]
    groups = table(at(tool, "poetry", "group")).values()
    poetry = [at(tool, "poetry", "dev-dependencies"), *(at(one, "dependencies") for one in groups)]
    envs = table(at(tool, "hatch", "envs")).values()
    hatch = [split(one) for env in envs for key in _HATCH for one in texts(at(env, key))]
    return [*plain, *(one for each in poetry for one in _of_poetry(each)), *hatch]


_HATCH = ("dependencies", "extra-dependencies")


def extras(tree: dict[str, Any]) -> list[str]:
    """The names of the project's extras."""
    return list(table(at(tree, "project", "optional-dependencies")))


def _of_poetry(dependencies: object) -> Iterator[Needed]:
    for name, wanted in table(dependencies).items():
        if name != "python":
            version = wanted if isinstance(wanted, str) else text_at(wanted, "version")
            yield normal(name), "" if version == "*" else version
