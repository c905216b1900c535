"""CMake: what a CMakeLists.txt and its presets declare, as far as it is literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, get_text_at, parse_json, strip_comments
from cub.repomap.stack.known_packages import libraries
from cub.repomap.stack.manifest_paths import exists_above, resolve_manifest_path

_CALL = re.compile(r"\b([a-z_]\w{0,40})[ \t]*+\(([^()]{0,20000}+)", re.IGNORECASE)
_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"?|([^\s"]++)', re.DOTALL)
_LANGUAGES = {
    "ASM": "Assembly", "C": "C", "CUDA": "CUDA", "CXX": "C++", "FORTRAN": "Fortran",
    "OBJC": "Objective-C", "OBJCXX": "Objective-C++", "SWIFT": "Swift",
}  # fmt: skip
_STANDARD = re.compile(r"CMAKE_(C|CXX|CUDA)_STANDARD")


class _Call(NamedTuple):
    name: str
    words: list[str]


def _cmake(manifest: Manifest) -> ManifestFacts:
    calls = list(_calls(manifest.text))
    project = next((call.words for call in calls if call.name == "project" and call.words), [])
    leads = not exists_above(manifest, "CMakeLists.txt")
    return ManifestFacts(
        technologies=(
            *_languages(calls, project, manifest.path),
            *_build_tool(calls, manifest.path),
            *libraries(_needed(calls), manifest.path),
        ),
        commands=tuple(_commands(calls, manifest)) if leads else (),
        entry_points=tuple(_programs(calls, project, manifest)),
        packages=tuple(_packages(project, manifest)),
    )


def _calls(text: str) -> Iterator[_Call]:
    """The calls with their words; what is inside of further parentheses is left out."""
    for found in _CALL.finditer(strip_comments(text, "#")):
        words = [word[0] or word[1] for word in _WORD.findall(found[2])]
        yield _Call(found[1].lower(), words)


def _languages(calls: list[_Call], project: list[str], source: str) -> Iterator[Technology]:
    """The languages that are named, with their standards; a project need not name any."""
    named = [word.upper() for word in project[1:]]
    listed = named[named.index("LANGUAGES") + 1 :] if "LANGUAGES" in named else named
    languages = [_LANGUAGES[word] for word in listed if word in _LANGUAGES]
    standards = dict(_standards(calls))
    for name in dict.fromkeys([*languages, *standards]):
        yield Technology(name, "language", standards.get(name, ""), source)


def _standards(calls: list[_Call]) -> Iterator[tuple[str, str]]:
    for name, words in calls:
        variable = _STANDARD.fullmatch(words[0]) if name == "set" and len(words) > 1 else None
        if variable and words[1].isdigit():
            yield _LANGUAGES[variable[1]], words[1]
        if name == "target_compile_features":
            for word in words:
                if found := re.fullmatch(r"(cxx|c)_std_(\d\d)", word):
                    yield _LANGUAGES[found[1].upper()], found[2]


def _build_tool(calls: list[_Call], source: str) -> Iterator[Technology]:
    least = [
        call.words[1] for call in calls if call.name == "cmake_minimum_required" and call.words[1:]
    ]
    yield Technology("CMake", "build", f">={least[0].partition('...')[0]}" if least else "", source)


def _needed(calls: list[_Call]) -> Iterator[tuple[str, str]]:
    """The packages that are looked for, with the oldest version that will do."""
    for name, words in calls:
        if name in ("find_package", "fetchcontent_declare") and words:
            version = words[1] if name == "find_package" and words[1:] else ""
            yield words[0], version if version[:1].isdigit() else ""


def _commands(calls: list[_Call], manifest: Manifest) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("build", "cmake -B build && cmake --build build", source, folder)
    if any(
        name in ("enable_testing", "add_test") or (name == "include" and words[:1] == ["CTest"])
        for name, words in calls
    ):
        yield ProjectCommand("test", "ctest --test-dir build", source, folder)


def _programs(calls: list[_Call], project: list[str], manifest: Manifest) -> Iterator[EntryPoint]:
    """The executables with the first source that is in the project, best its main file."""
    for call in calls:
        if call.name in ("add_executable", "qt_add_executable") and call.words:
            name = call.words[0].replace("${PROJECT_NAME}", "".join(project[:1]))
            paths = [resolve_manifest_path(manifest, word) for word in call.words[1:200]]
            known = [path for path in paths if path in manifest.paths]
            main = [path for path in known if path.rpartition("/")[2].startswith("main.")]
            if known and "$" not in name:
                yield EntryPoint(name, (main or known)[0], manifest.path)


def _packages(project: list[str], manifest: Manifest) -> Iterator[ProjectPackage]:
    if project and "$" not in project[0]:
        at = project.index("DESCRIPTION") + 1 if "DESCRIPTION" in project else len(project)
        yield ProjectPackage(
            manifest.folder, project[0], "".join(project[at : at + 1]), manifest.path
        )


def _presets(manifest: Manifest) -> ManifestFacts:
    """The first preset of each kind that is there for people to use."""
    tree, source, folder = parse_json(manifest.text), manifest.path, manifest.folder
    configure, build, test = (_preset(tree, kind) for kind in ("configure", "build", "test"))
    first = f"cmake --preset {configure}"
    then = f"cmake --build --preset {build}"
    commands = []
    if configure and build:
        commands.append(ProjectCommand("build", f"{first} && {then}", source, folder, "target"))
    if test:
        commands.append(ProjectCommand("test", f"ctest --preset {test}", source, folder, "target"))
    return ManifestFacts(commands=tuple(commands))


def _preset(tree: dict[str, Any], kind: str) -> str:
    listed = tree.get(f"{kind}Presets")
    seen = (
        [each for each in listed if not as_table(each).get("hidden")]
        if isinstance(listed, list)
        else []
    )
    names = (get_text_at(each, "name") for each in seen)
    return next((name for name in names if re.fullmatch(r"[\w.-]+", name)), "")


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("CMakeLists.txt",), _cmake),
    ManifestReader(("CMakePresets.json",), _presets),
)
