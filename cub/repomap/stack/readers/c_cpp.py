"""C and C++ without CMake: Meson and Autotools; and their packages from Conan and vcpkg."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import get_text_at, iter_code_lines, parse_json, strip_comments
from cub.repomap.stack.known_packages import libraries
from cub.repomap.stack.manifest_paths import exists_above, find_beside, resolve_manifest_path

_CALL = re.compile(r"\b(project|executable|dependency|test)[ \t]*+\(([^()]{0,20000}+)")
_TEXT = re.compile(r"'([^'\n]*+)'")
_LANGUAGES = {
    "c": "C",
    "cpp": "C++",
    "rust": "Rust",
    "d": "D",
    "vala": "Vala",
    "fortran": "Fortran",
}
_STANDARD = re.compile(r"'(c|cpp)_std=(?:gnu|c)(?:\+\+)?(\w{1,4})'")
_MESON = re.compile(r"meson_version[ \t]*+:[ \t]*+'([^'\n]*+)'")
_INIT = re.compile(r"^AC_INIT\([ \t\n]*+\[?([\w .+-]++)", re.MULTILINE)
_CONAN = re.compile(r"(?<![\w+./-])([a-z0-9_+.-]++)/([\w.-]++|\[[^\[\]\n]*+\])")


def _meson(manifest: Manifest) -> ManifestFacts:
    calls = [found.groups() for found in _CALL.finditer(strip_comments(manifest.text, "#"))]
    project = next((words for name, words in calls if name == "project"), "")
    needs = [(text, "") for name, words in calls if name == "dependency" for text in _texts(words)]
    tests = any(name == "test" for name, _ in calls)
    name = "".join(_texts(project)[:1])
    return ManifestFacts(
        technologies=(
            *_languages(project, manifest.path),
            Technology("Meson", "build", "".join(_MESON.findall(project)[:1]), manifest.path),
            *libraries(needs, manifest.path),
        ),
        commands=() if exists_above(manifest, "meson.build") else tuple(_commands(manifest, tests)),
        entry_points=tuple(_programs(calls, manifest)),
        packages=(ProjectPackage(manifest.folder, name, "", manifest.path),) if name else (),
    )


def _texts(words: str) -> list[str]:
    return _TEXT.findall(words)


def _languages(project: str, source: str) -> Iterator[Technology]:
    standards = {_LANGUAGES[name]: version for name, version in _STANDARD.findall(project)}
    for text in _texts(project)[1:8]:
        if text in _LANGUAGES:
            name = _LANGUAGES[text]
            yield Technology(name, "language", standards.get(name, ""), source)


def _commands(manifest: Manifest, tests: bool) -> Iterator[ProjectCommand]:
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("build", "meson setup build && meson compile -C build", source, folder)
    if tests or find_beside(manifest, "tests/meson.build", "test/meson.build"):
        yield ProjectCommand("test", "meson test -C build", source, folder)


def _programs(calls: list[tuple[str, ...]], manifest: Manifest) -> Iterator[EntryPoint]:
    for call, words in calls:
        name, *files = _texts(words) if call == "executable" else [""]
        paths = [resolve_manifest_path(manifest, file) for file in files]
        known = [path for path in paths if path in manifest.paths]
        if known:
            yield EntryPoint(name, known[0], manifest.path)


def _autoconf(manifest: Manifest) -> ManifestFacts:
    text, source, folder = manifest.text, manifest.path, manifest.folder
    name = _INIT.search(text)
    named = (("AC_PROG_CC", "C"), ("AC_PROG_CXX", "C++"))
    languages = [language for macro, language in named if re.search(rf"\b{macro}\b", text)]
    script = "" if find_beside(manifest, "configure") else "autoreconf -i && "
    script = "./autogen.sh && " if script and find_beside(manifest, "autogen.sh") else script
    commands = (
        ProjectCommand("build", f"{script}./configure && make", source, folder),
        ProjectCommand("test", "make check", source, folder),
    )
    return ManifestFacts(
        technologies=(
            *(Technology(language, "language", "", source) for language in languages),
            Technology("Autotools", "build", "", source),
        ),
        commands=() if exists_above(manifest, "configure.ac") else commands,
        packages=(ProjectPackage(folder, name[1].strip(), "", source),) if name else (),
    )


def _conan(manifest: Manifest) -> ManifestFacts:
    """References such as `fmt/10.2.1`, wherever they stand."""
    lines = list(iter_code_lines(manifest.text))
    found = [each for line in lines for each in _CONAN.findall(line)]
    needs = [(name, version.strip("[]")) for name, version in found]
    command = ProjectCommand(
        "install", "conan install . --build=missing", manifest.path, manifest.folder
    )
    return ManifestFacts(
        technologies=(
            Technology("Conan", "manager", "", manifest.path),
            *libraries(needs, manifest.path),
        ),
        commands=(command,),
    )


def _vcpkg(manifest: Manifest) -> ManifestFacts:
    tree = parse_json(manifest.text)
    listed = tree.get("dependencies")
    needs = [
        (each if isinstance(each, str) else get_text_at(each, "name"), "")
        for each in (listed if isinstance(listed, list) else [])
    ]
    name, words = get_text_at(tree, "name"), get_text_at(tree, "description")
    return ManifestFacts(
        technologies=(
            Technology("vcpkg", "manager", "", manifest.path),
            *libraries(needs, manifest.path),
        ),
        commands=(ProjectCommand("install", "vcpkg install", manifest.path, manifest.folder),),
        packages=(ProjectPackage(manifest.folder, name, words, manifest.path),) if name else (),
    )


READERS: tuple[ManifestReader, ...] = (
    ManifestReader(("meson.build",), _meson),
    ManifestReader(("configure.ac", "configure.in"), _autoconf),
    ManifestReader(("conanfile.txt", "conanfile.py"), _conan),
    ManifestReader(("vcpkg.json",), _vcpkg),
)
