"""Read what a Python project needs, in files other than the project's own.

These are requirements files, Pipfile, conda's environment.yml and Django's manage.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cub.repomap.stack.facts import ManifestFacts, ProjectCommand, Technology, combine_facts
from cub.repomap.stack.formats import as_table, get_text_at, get_value_at, parse_toml
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.python_tools import detect_run_prefix, list_tools
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#@]*)")
_SEPARATORS = re.compile(r"[-_.]+")
_AT_RUN_TIME = re.compile(
    r"(?:requirements?[-_.]?)?(?:base|main|common|core|app|server|prod|production|web|run|runtime)?"
    r"(?:[-_.]?requirements?)?"
)
_ITSELF = re.compile(r"^(?:-e|--editable)[ =]*\.", re.MULTILINE)
_CONDA_PYTHON = re.compile(r"python\s*([<>=!~]*\s*[\d.*,<>=!~ ]*)$")
_MAX_LINES = 5000

Requirement = tuple[str, str]  # a normalized name and its versions


def read_requirements(manifest: Manifest) -> ManifestFacts:
    """Read what is needed at run time, unless the file's name or an `-e .` says otherwise."""
    requirements = [parse_requirement(line) for line in iter_requirements(manifest.text)]
    stem = manifest.name.removesuffix(".txt").removesuffix(".in").lower()
    at_run_time = _AT_RUN_TIME.fullmatch(stem) and not _ITSELF.search(manifest.text)
    known = find_required_technologies(requirements, manifest.path) if at_run_time else ()
    names = [name for name, _ in requirements]
    commands = _list_install_commands(manifest) if manifest.path.endswith(".txt") else ()
    return combine_facts(
        ManifestFacts((manifest.make_technology("Python", "language"), *known), commands),
        list_pytest(manifest, names, detect_run_prefix(manifest)),
        list_tools(manifest, names, without_commands=True),
    )


def _list_install_commands(manifest: Manifest) -> tuple[ProjectCommand, ...]:
    """Return none if a manager with a lock file installs; type it above `requirements/`."""
    folder, _, name = manifest.path.rpartition("/")
    if folder.rpartition("/")[2] == "requirements":
        name, folder = f"requirements/{name}", folder.rpartition("/")[0]
    if detect_run_prefix(manifest) or "constraint" in name:
        return ()
    return (ProjectCommand("install", f"pip install -r {name}", manifest.path, folder),)


def iter_requirements(text: str) -> Iterator[str]:
    """Yield the requirements of a requirements file, without options, comments and addresses."""
    for line in text.split("\n")[:_MAX_LINES]:
        requirement = line.partition("#")[0].strip()
        if requirement and not requirement.startswith(("-", "/", ".", "git+", "http", "file:")):
            yield requirement


def parse_requirement(requirement: str) -> Requirement:
    """Return the name and the versions of a requirement (PEP 508), ("", "") if it isn't one."""
    match = _REQUIREMENT.match(requirement[:200])
    if match is None:
        return "", ""
    versions = match[2].partition(" --")[0].strip(" ()\t\r\n\\")
    return normalize_package_name(match[1]), versions if versions[:1] in tuple("<>=!~") else ""


def normalize_package_name(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return _SEPARATORS.sub("-", name[:200]).lower()


def find_required_technologies(
    requirements: Iterable[Requirement], source: str
) -> tuple[Technology, ...]:
    """Return the known packages among those that a program needs at run time."""
    return find_known_technologies("pypi", requirements, source)


def list_pytest(manifest: Manifest, names: Iterable[str], run_prefix: str) -> ManifestFacts:
    """Return pytest with its command, if it is among the packages."""
    return list_tools(manifest, {"pytest"}.intersection(names), run_prefix=run_prefix)


def read_pipfile(manifest: Manifest) -> ManifestFacts:
    """Read Pipenv's packages."""
    tree = parse_toml(manifest.text)
    version = get_text_at(tree, "requires", "python_version")
    requirements = [
        (normalize_package_name(name), _get_pipfile_version(value))
        for name, value in as_table(tree.get("packages")).items()
    ]
    developers = [normalize_package_name(name) for name in as_table(tree.get("dev-packages"))]
    technologies = (
        manifest.make_technology("Python", "language", version),
        *find_required_technologies(requirements, manifest.path),
        manifest.make_technology("Pipenv", "manager"),
    )
    return combine_facts(
        ManifestFacts(technologies, (manifest.make_command("install", "pipenv install --dev"),)),
        list_pytest(manifest, developers, "pipenv run "),
        list_tools(manifest, developers, without_commands=True),
    )


def _get_pipfile_version(value: object) -> str:
    version = value if isinstance(value, str) else get_value_at(value, "version")
    return version if isinstance(version, str) and version != "*" else ""


def read_conda_environment(manifest: Manifest) -> ManifestFacts:
    """Read environment.yml: the packages of conda, and those of pip below them.

    Beside a project that says itself what it needs, they are for its developers.
    """
    scalars = select_below(read_yaml_scalars(manifest.text), "dependencies")
    lines = [scalar.value for scalar in scalars if scalar.keys]
    python = next((match for line in lines if (match := _CONDA_PYTHON.fullmatch(line))), None)
    requirements = [
        parse_requirement(re.sub(r"(?<![<>=!~])=(?!=)", "==", line, count=1)) for line in lines
    ]
    is_program = not manifest.find_beside("pyproject.toml", "setup.py")
    technologies = (
        manifest.make_technology("Python", "language", python[1].strip("= ") if python else ""),
        *(find_required_technologies(requirements, manifest.path) if is_program else ()),
        manifest.make_technology("conda", "manager"),
    )
    install = manifest.make_command("install", f"conda env create -f {manifest.name}")
    return combine_facts(
        ManifestFacts(technologies, (install,)),
        list_tools(manifest, (name for name, _ in requirements), without_commands=True),
    )


def read_manage_py(manifest: Manifest) -> ManifestFacts:
    """Read Django's manage.py, known by its words; other scripts of this name tell nothing."""
    if "DJANGO_SETTINGS_MODULE" not in manifest.text and "django" not in manifest.text:
        return ManifestFacts()
    prefix = f"{detect_run_prefix(manifest)}python manage.py"
    return ManifestFacts(
        (manifest.make_technology("Django", "framework"),),
        (
            manifest.make_command("run", f"{prefix} runserver"),
            manifest.make_command("test", f"{prefix} test"),
        ),
        (manifest.make_entry_point("manage.py", manifest.path),),
    )
