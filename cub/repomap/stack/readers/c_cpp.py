"""Read the build files of C and C++: CMake, Meson and Autotools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from cub.repomap.stack.facts import EntryPoint, Fact, Technology
from cub.repomap.stack.formats import (
    as_table,
    get_text_at,
    parse_json,
    strip_comments,
)
from cub.repomap.stack.manifest import Manifest

_CALL = re.compile(r"\b([a-z_]\w{0,40})[ \t]*+\(([^()]{0,20000}+)", re.IGNORECASE)
_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"?|([^\s"]++)', re.DOTALL)
_LANGUAGES = {
    "ASM": "Assembly", "C": "C", "CUDA": "CUDA", "CXX": "C++", "FORTRAN": "Fortran",
    "OBJC": "Objective-C", "OBJCXX": "Objective-C++", "SWIFT": "Swift",
}  # fmt: skip
_MINIMUM = "cmake_minimum_required"
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
    versions = (words[1] for name, words in calls if name == _MINIMUM and words[1:])
    minimum = next(versions, "").partition("...")[0]
    yield manifest.make_technology("CMake", "build", minimum and f">={minimum}")
    yield from manifest.find_known("native", _iter_dependencies(calls))
    if not manifest.exists_above("CMakeLists.txt"):
        build = "cmake -B build && cmake --build build"
        yield manifest.make_command("build", build)
        if any(
            name in ("enable_testing", "add_test") or (name == "include" and words[:1] == ["CTest"])
            for name, words in calls
        ):
            # Without a build, CTest runs the programs of the last one.
            yield manifest.make_command("test", f"{build} && ctest --test-dir build")
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


def _iter_dependencies(calls: list[_Call]) -> Iterator[tuple[str, str]]:
    """Yield the packages that are looked for, with their minimum versions."""
    for name, words in calls:
        if name in ("find_package", "fetchcontent_declare") and words:
            version = words[1] if name == "find_package" and words[1:] else ""
            yield words[0], version if version[:1].isdigit() else ""


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


_MESON_CALL = re.compile(r"\b(project|executable|dependency|test)[ \t]*+\(([^()]{0,20000}+)")
_STRING = re.compile(r"'([^'\n]*+)'")
_MESON_NAMES = {
    "c": "C", "cpp": "C++", "rust": "Rust", "d": "D", "vala": "Vala", "fortran": "Fortran",
}  # fmt: skip
_MESON_STANDARD = re.compile(r"'(c|cpp)_std=(?:gnu|c)(?:\+\+)?(\w{1,4})'")
_INIT = re.compile(r"^AC_INIT\([ \t\n]*+\[?([\w .+-]++)", re.MULTILINE)


def read_meson_build(manifest: Manifest) -> Iterator[Fact]:
    """Read a meson.build: its literal calls."""
    calls = [match.groups() for match in _MESON_CALL.finditer(strip_comments(manifest.text, "#"))]
    project = next((arguments for call, arguments in calls if call == "project"), "")
    needed = [
        (library, "")
        for call, arguments in calls
        if call == "dependency"
        for library in _STRING.findall(arguments)
    ]
    yield from _list_meson_languages(project, manifest)
    yield from manifest.find_known("native", needed)
    if not manifest.exists_above("meson.build"):
        yield manifest.make_command("build", "meson setup build && meson compile -C build")
        has_tests = any(call == "test" for call, _ in calls)
        if has_tests or manifest.find_beside("tests/meson.build", "test/meson.build"):
            yield manifest.make_command("test", "meson test -C build")
    yield from _list_meson_programs(calls, manifest)
    yield manifest.make_package("".join(_STRING.findall(project)[:1]))


def _list_meson_languages(project: str, manifest: Manifest) -> Iterator[Technology]:
    standards = dict(_MESON_STANDARD.findall(project))
    for word in _STRING.findall(project)[1:8]:
        if word in _MESON_NAMES:
            yield manifest.make_technology(_MESON_NAMES[word], "language", standards.get(word, ""))


def _list_meson_programs(calls: list[tuple[str, ...]], manifest: Manifest) -> Iterator[EntryPoint]:
    for call, arguments in calls:
        name, *files = _STRING.findall(arguments) if call == "executable" else [""]
        paths = (manifest.resolve_path(file) for file in files)
        if source := next((path for path in paths if path in manifest.paths), ""):
            yield manifest.make_entry_point(name, source)


def read_configure_ac(manifest: Manifest) -> Iterator[Fact]:
    """Read a configure.ac."""
    if not manifest.exists_above("configure.ac"):
        script = f"{manifest.choose_program('./autogen.sh', 'autoreconf -i')} && "
        script = "" if manifest.find_beside("configure") else script
        yield from manifest.make_commands(build=f"{script}./configure && make", test="make check")
    if name := _INIT.search(manifest.text):
        yield manifest.make_package(name[1].strip())
