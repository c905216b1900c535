"""The files that say which packages and which Python a project needs, but are no project's own."""

from __future__ import annotations

import re

from cub.repomap.stack.around import beside
from cub.repomap.stack.facts import Command, EntryPoint, Facts, Manifest, Reader, Technology
from cub.repomap.stack.formats.trees import at, table, text_at, toml_tree
from cub.repomap.stack.formats.yaml_lines import below, entries
from cub.repomap.stack.merging import joined
from cub.repomap.stack.python.requirements import lines, normal, split, technologies
from cub.repomap.stack.python.tools import runner, tools

_AT_RUN_TIME = re.compile(
    r"(?:requirements?[-_.]?)?(?:base|main|common|core|app|server|prod|production|web|run|runtime)?"
    r"(?:[-_.]?requirements?)?"
)
_ITSELF = re.compile(r"^(?:-e|--editable)[ =]*\.", re.MULTILINE)
_CONDA_PYTHON = re.compile(r"python\s*([<>=!~]*\s*[\d.*,<>=!~ ]*)$")


def _requirements(manifest: Manifest) -> Facts:
    """What a program needs at run time, unless the file's name or an `-e .` in it says else."""
    needed = [split(line) for line in lines(manifest.text)]
    stem = manifest.path.rpartition("/")[2].removesuffix(".txt").removesuffix(".in").lower()
    at_run_time = _AT_RUN_TIME.fullmatch(stem) and not _ITSELF.search(manifest.text)
    found = technologies(needed, manifest.path) if at_run_time else ()
    names = [name for name, _ in needed]
    commands = _install(manifest) if manifest.path.endswith(".txt") else ()
    python = Technology("Python", "language", "", manifest.path)
    return joined(
        Facts((python, *found), commands),
        tools(manifest, [n for n in names if n == "pytest"], typed=runner(manifest)),
        tools(manifest, names, quiet=True),
    )


def _install(manifest: Manifest) -> tuple[Command, ...]:
    """Nothing where a manager with a lock file installs; from the folder above `requirements/`."""
    folder, _, name = manifest.path.rpartition("/")
    if folder.rpartition("/")[2] == "requirements":
        name, folder = f"requirements/{name}", folder.rpartition("/")[0]
    if runner(manifest) or "constraint" in name:
        return ()
    return (Command("install", f"pip install -r {name}", manifest.path, folder),)


def _pipfile(manifest: Manifest) -> Facts:
    tree = toml_tree(manifest.text)
    version = text_at(tree, "requires", "python_version")
    needed = [
        (normal(name), _version(value)) for name, value in table(tree.get("packages")).items()
    ]
    developers = [normal(name) for name in table(tree.get("dev-packages"))]
    own = (
        Technology("Python", "language", version, manifest.path),
        *technologies(needed, manifest.path),
        Technology("Pipenv", "manager", "", manifest.path),
    )
    install = Command("install", "pipenv install --dev", manifest.path, manifest.folder)
    tests = [name for name in developers if name == "pytest"]
    return joined(
        Facts(own, (install,)),
        tools(manifest, tests, typed="pipenv run "),
        tools(manifest, developers, quiet=True),
    )


def _version(value: object) -> str:
    version = value if isinstance(value, str) else at(value, "version")
    return version if isinstance(version, str) and version != "*" else ""


def _conda(manifest: Manifest) -> Facts:
    """environment.yml: the packages of conda, and those of pip below them.

    Beside a project that says itself what it needs, they are for its developers.
    """
    found = entries(manifest.text)
    needed = [one.value for one in below(found, "dependencies") if one.keys]
    python = next((m for text in needed if (m := _CONDA_PYTHON.fullmatch(text))), None)
    named = [split(re.sub(r"(?<![<>=!~])=(?!=)", "==", text, count=1)) for text in needed]
    of_program = not beside(manifest, "pyproject.toml", "setup.py")
    own = (
        Technology("Python", "language", python[1].strip("= ") if python else "", manifest.path),
        *(technologies(named, manifest.path) if of_program else ()),
        Technology("conda", "manager", "", manifest.path),
    )
    name = manifest.path.rpartition("/")[2]
    install = Command("install", f"conda env create -f {name}", manifest.path, manifest.folder)
    return joined(Facts(own, (install,)), tools(manifest, (name for name, _ in named), quiet=True))


def _version_file(manifest: Manifest) -> Facts:
    """.python-version: one version a line, the first is the default."""
    first = (manifest.text.split() or [""])[0]
    version = first if re.fullmatch(r"(?:python-|pypy)?[\d.]{1,12}\w{0,6}", first) else ""
    return Facts(
        (Technology("Python", "language", version.removeprefix("python-"), manifest.path),)
    )


def _manage(manifest: Manifest) -> Facts:
    """Django's manage.py, known by its words; other scripts of this name tell nothing."""
    if "DJANGO_SETTINGS_MODULE" not in manifest.text and "django" not in manifest.text:
        return Facts()
    typed = f"{runner(manifest)}python manage.py "
    found = {"test": "test", "run": "runserver"}
    return Facts(
        (Technology("Django", "framework", "", manifest.path),),
        (
            Command("run", f"{typed}{found['run']}", manifest.path, manifest.folder),
            Command("test", f"{typed}{found['test']}", manifest.path, manifest.folder),
        ),
        (EntryPoint("manage.py", manifest.path, manifest.path),),
    )


_REQUIREMENTS = (
    "requirements.txt", "requirements-*.txt", "requirements_*.txt", "*-requirements.txt",
    "*_requirements.txt", "requirements/*.txt", "requirements.in",
)  # fmt: skip
READERS = (
    Reader(("Pipfile",), _pipfile),
    Reader(_REQUIREMENTS, _requirements),
    Reader(("environment.yml", "environment.yaml"), _conda),
    Reader(("manage.py",), _manage),
    Reader((".python-version",), _version_file),
)
