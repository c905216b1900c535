"""Read what a CMakeLists.txt and its presets declare, if it is literal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cub.repomap.stack.facts import EntryPoint, Fact, ProjectCommand, Technology
from cub.repomap.stack.formats import as_table, get_text_at, parse_json, strip_comments
from cub.repomap.stack.manifest import Manifest

_CALL = re.compile(r"\b([a-z_]\w{0,40})[ \t]*+\(([^()]{0,20000}+)", re.IGNORECASE)
_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"?|([^\s"]++)', re.DOTALL)
_LANGUAGES = {
    "ASM": "Assembly", "C": "C", "CUDA": "CUDA", "CXX": "C++", "FORTRAN": "Fortran",
    "OBJC": "Objective-C", "OBJCXX": "Objective-C++", "SWIFT": "Swift",
}  # fmt: skip
_STANDARD = re.compile(r"CMAKE_(C|CXX|CUDA)_STANDARD")
_MAX_SOURCES = 200


class _Call(NamedTuple):
    name: str
    words: list[str]


def read_cmake_lists(manifest: Manifest) -> Iterator[Fact]:
    """Read a CMakeLists.txt."""
    calls = list(_iter_calls(manifest.text))
    project = next((call.words for call in calls if call.name == "project" and call.words), [])
    yield from _list_languages(calls, project, manifest)
    yield manifest.make_technology("CMake", "build", _find_minimum_version(calls))
    yield from manifest.find_known("native", _iter_dependencies(calls))
    if not manifest.exists_above("CMakeLists.txt"):
        yield from _list_commands(calls, manifest)
    yield from _list_programs(calls, project, manifest)
    if project and "$" not in project[0]:
        start = project.index("DESCRIPTION") + 1 if "DESCRIPTION" in project else len(project)
        yield manifest.make_package(project[0], "".join(project[start : start + 1]))


def _iter_calls(text: str) -> Iterator[_Call]:
    """Yield the calls with their words; what is inside of further parentheses is left out."""
    for call in _CALL.finditer(strip_comments(text, "#")):
        words = [word[0] or word[1] for word in _WORD.findall(call[2])]
        yield _Call(call[1].lower(), words)


def _list_languages(
    calls: list[_Call], project: list[str], manifest: Manifest
) -> Iterator[Technology]:
    """Yield the languages that are named, with their standards; a project need not name any."""
    words = [word.upper() for word in project[1:]]
    words = words[words.index("LANGUAGES") + 1 :] if "LANGUAGES" in words else words
    languages = [_LANGUAGES[word] for word in words if word in _LANGUAGES]
    standards = dict(_iter_standards(calls))
    for name in dict.fromkeys([*languages, *standards]):
        yield manifest.make_technology(name, "language", standards.get(name, ""))


def _iter_standards(calls: list[_Call]) -> Iterator[tuple[str, str]]:
    for name, words in calls:
        variable = _STANDARD.fullmatch(words[0]) if name == "set" and len(words) > 1 else None
        if variable and words[1].isdigit():
            yield _LANGUAGES[variable[1]], words[1]
        if name == "target_compile_features":
            for word in words:
                if feature := re.fullmatch(r"(cxx|c)_std_(\d\d)", word):
                    yield _LANGUAGES[feature[1].upper()], feature[2]


def _find_minimum_version(calls: list[_Call]) -> str:
    versions = [words[1] for name, words in calls if name == "cmake_minimum_required" and words[1:]]
    return f">={versions[0].partition('...')[0]}" if versions else ""


def _iter_dependencies(calls: list[_Call]) -> Iterator[tuple[str, str]]:
    """Yield the packages that are looked for, with their minimum versions."""
    for name, words in calls:
        if name in ("find_package", "fetchcontent_declare") and words:
            version = words[1] if name == "find_package" and words[1:] else ""
            yield words[0], version if version[:1].isdigit() else ""


def _list_commands(calls: list[_Call], manifest: Manifest) -> Iterator[ProjectCommand]:
    """Yield what builds, and what tests: without a build, CTest runs the programs of the last."""
    build = "cmake -B build && cmake --build build"
    yield manifest.make_command("build", build)
    if any(
        name in ("enable_testing", "add_test") or (name == "include" and words[:1] == ["CTest"])
        for name, words in calls
    ):
        yield manifest.make_command("test", f"{build} && ctest --test-dir build")


def _list_programs(
    calls: list[_Call], project: list[str], manifest: Manifest
) -> Iterator[EntryPoint]:
    """Yield the executables with the first source that is in the project, or its main file."""
    for call in calls:
        if call.name in ("add_executable", "qt_add_executable") and call.words:
            name = call.words[0].replace("${PROJECT_NAME}", "".join(project[:1]))
            paths = [manifest.resolve_path(word) for word in call.words[1:_MAX_SOURCES]]
            sources = [path for path in paths if path in manifest.paths]
            main = [path for path in sources if path.rpartition("/")[2].startswith("main.")]
            if sources and "$" not in name:
                yield manifest.make_entry_point(name, (main or sources)[0])


def read_cmake_presets(manifest: Manifest) -> Iterator[Fact]:
    """Read the first preset of each kind that is not hidden."""
    tree = parse_json(manifest.text)
    configure, build, test = (_find_preset(tree, kind) for kind in ("configure", "build", "test"))
    lines = [f"cmake --preset {configure}", f"cmake --build --preset {build}"]
    lines = lines if configure and build else []
    yield manifest.make_command("build", " && ".join(lines), "target")
    if test:
        yield manifest.make_command(
            "test", " && ".join([*lines, f"ctest --preset {test}"]), "target"
        )


def _find_preset(tree: dict[str, Any], kind: str) -> str:
    presets = tree.get(f"{kind}Presets")
    names = (
        get_text_at(preset, "name")
        for preset in (presets if isinstance(presets, list) else [])
        if not as_table(preset).get("hidden")
    )
    return next((name for name in names if re.fullmatch(r"[\w.-]+", name)), "")
