"""The files that say which packages and which Python a project needs, but are no project's own.

Requirements as Python projects write them: names, versions, and which ones have a name here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
    combine_facts,
)
from cub.repomap.stack.formats import as_table, get_text_at, get_value_at, parse_toml
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import find_beside
from cub.repomap.stack.readers.python_tools import detect_run_prefix, list_tools
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#@]*)")
_SEPARATORS = re.compile(r"[-_.]+")
_MOST_LINES = 5000

Requirement = tuple[str, str]  # a normalized name and its versions


def parse_requirement(requirement: str) -> Requirement:
    """The name and the versions of a requirement (PEP 508), ("", "") for what is none."""
    found = _REQUIREMENT.match(requirement[:200])
    if found is None:
        return "", ""
    versions = found[2].partition(" --")[0].strip(" ()\t\r\n\\")
    return normalize_package_name(found[1]), versions if versions[:1] in tuple("<>=!~") else ""


def normalize_package_name(name: str) -> str:
    """A package's name as indexes compare it."""
    return _SEPARATORS.sub("-", name[:200]).lower()


def find_required_technologies(
    requirements: Iterable[Requirement], source: str
) -> tuple[Technology, ...]:
    """What is known of the packages that a program needs at run time."""
    return find_known_technologies("pypi", requirements, source)


def iter_requirements(text: str) -> Iterator[str]:
    """The requirements of a requirements file, without options, comments and addresses."""
    for line in text.split("\n")[:_MOST_LINES]:
        bare = line.partition("#")[0].strip()
        if bare and bare[0] not in "-/." and not bare.startswith(("git+", "http", "file:")):
            yield bare


_AT_RUN_TIME = re.compile(
    r"(?:requirements?[-_.]?)?(?:base|main|common|core|app|server|prod|production|web|run|runtime)?"
    r"(?:[-_.]?requirements?)?"
)
_ITSELF = re.compile(r"^(?:-e|--editable)[ =]*\.", re.MULTILINE)
_CONDA_PYTHON = re.compile(r"python\s*([<>=!~]*\s*[\d.*,<>=!~ ]*)$")


def _requirements(manifest: Manifest) -> ManifestFacts:
    """What a program needs at run time, unless the file's name or an `-e .` in it says else."""
    needed = [parse_requirement(line) for line in iter_requirements(manifest.text)]
    stem = manifest.path.rpartition("/")[2].removesuffix(".txt").removesuffix(".in").lower()
    at_run_time = _AT_RUN_TIME.fullmatch(stem) and not _ITSELF.search(manifest.text)
    found = find_required_technologies(needed, manifest.path) if at_run_time else ()
    names = [name for name, _ in needed]
    commands = _install(manifest) if manifest.path.endswith(".txt") else ()
    python = Technology("Python", "language", "", manifest.path)
    return combine_facts(
        ManifestFacts((python, *found), commands),
        list_tools(
            manifest, [n for n in names if n == "pytest"], run_prefix=detect_run_prefix(manifest)
        ),
        list_tools(manifest, names, without_commands=True),
    )


def _install(manifest: Manifest) -> tuple[ProjectCommand, ...]:
    """Nothing where a manager with a lock file installs; from the folder above `requirements/`."""
    folder, _, name = manifest.path.rpartition("/")
    if folder.rpartition("/")[2] == "requirements":
        name, folder = f"requirements/{name}", folder.rpartition("/")[0]
    if detect_run_prefix(manifest) or "constraint" in name:
        return ()
    return (ProjectCommand("install", f"pip install -r {name}", manifest.path, folder),)


def _pipfile(manifest: Manifest) -> ManifestFacts:
    tree = parse_toml(manifest.text)
    version = get_text_at(tree, "requires", "python_version")
    needed = [
        (normalize_package_name(name), _version(value))
        for name, value in as_table(tree.get("packages")).items()
    ]
    developers = [normalize_package_name(name) for name in as_table(tree.get("dev-packages"))]
    own = (
        Technology("Python", "language", version, manifest.path),
        *find_required_technologies(needed, manifest.path),
        Technology("Pipenv", "manager", "", manifest.path),
    )
    install = ProjectCommand("install", "pipenv install --dev", manifest.path, manifest.folder)
    tests = [name for name in developers if name == "pytest"]
    return combine_facts(
        ManifestFacts(own, (install,)),
        list_tools(manifest, tests, run_prefix="pipenv run "),
        list_tools(manifest, developers, without_commands=True),
    )


def _version(value: object) -> str:
    version = value if isinstance(value, str) else get_value_at(value, "version")
    return version if isinstance(version, str) and version != "*" else ""


def _conda(manifest: Manifest) -> ManifestFacts:
    """environment.yml: the packages of conda, and those of pip below them.

    Beside a project that says itself what it needs, they are for its developers.
    """
    found = read_yaml_scalars(manifest.text)
    needed = [one.value for one in select_below(found, "dependencies") if one.keys]
    python = next((m for text in needed if (m := _CONDA_PYTHON.fullmatch(text))), None)
    named = [
        parse_requirement(re.sub(r"(?<![<>=!~])=(?!=)", "==", text, count=1)) for text in needed
    ]
    of_program = not find_beside(manifest, "pyproject.toml", "setup.py")
    own = (
        Technology("Python", "language", python[1].strip("= ") if python else "", manifest.path),
        *(find_required_technologies(named, manifest.path) if of_program else ()),
        Technology("conda", "manager", "", manifest.path),
    )
    name = manifest.path.rpartition("/")[2]
    install = ProjectCommand(
        "install", f"conda env create -f {name}", manifest.path, manifest.folder
    )
    return combine_facts(
        ManifestFacts(own, (install,)),
        list_tools(manifest, (name for name, _ in named), without_commands=True),
    )


def _version_file(manifest: Manifest) -> ManifestFacts:
    """.python-version: one version a line, the first is the default."""
    first = (manifest.text.split() or [""])[0]
    version = first if re.fullmatch(r"(?:python-|pypy)?[\d.]{1,12}\w{0,6}", first) else ""
    return ManifestFacts(
        (Technology("Python", "language", version.removeprefix("python-"), manifest.path),)
    )


def _manage(manifest: Manifest) -> ManifestFacts:
    """Django's manage.py, known by its words; other scripts of this name tell nothing."""
    if "DJANGO_SETTINGS_MODULE" not in manifest.text and "django" not in manifest.text:
        return ManifestFacts()
    typed = f"{detect_run_prefix(manifest)}python manage.py "
    found = {"test": "test", "run": "runserver"}
    return ManifestFacts(
        (Technology("Django", "framework", "", manifest.path),),
        (
            ProjectCommand("run", f"{typed}{found['run']}", manifest.path, manifest.folder),
            ProjectCommand("test", f"{typed}{found['test']}", manifest.path, manifest.folder),
        ),
        (EntryPoint("manage.py", manifest.path, manifest.path),),
    )


_REQUIREMENTS = (
    "requirements.txt", "requirements-*.txt", "requirements_*.txt", "*-requirements.txt",
    "*_requirements.txt", "requirements/*.txt", "requirements.in",
)  # fmt: skip
READERS = (
    ManifestReader(("Pipfile",), _pipfile),
    ManifestReader(_REQUIREMENTS, _requirements),
    ManifestReader(("environment.yml", "environment.yaml"), _conda),
    ManifestReader(("manage.py",), _manage),
    ManifestReader((".python-version",), _version_file),
)
