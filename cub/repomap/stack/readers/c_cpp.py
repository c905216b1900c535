"""Read the build files of C and C++ without CMake: Meson, Autotools, Conan and vcpkg."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import EntryPoint, Fact, Technology
from cub.repomap.stack.formats import get_text_at, iter_code_lines, parse_json, strip_comments
from cub.repomap.stack.manifest import Manifest

_CALL = re.compile(r"\b(project|executable|dependency|test)[ \t]*+\(([^()]{0,20000}+)")
_STRING = re.compile(r"'([^'\n]*+)'")
_LANGUAGES = {
    "c": "C", "cpp": "C++", "rust": "Rust", "d": "D", "vala": "Vala", "fortran": "Fortran",
}  # fmt: skip
_STANDARD = re.compile(r"'(c|cpp)_std=(?:gnu|c)(?:\+\+)?(\w{1,4})'")
_MESON = re.compile(r"meson_version[ \t]*+:[ \t]*+'([^'\n]*+)'")
_INIT = re.compile(r"^AC_INIT\([ \t\n]*+\[?([\w .+-]++)", re.MULTILINE)
_CONAN = re.compile(r"(?<![\w+./-])([a-z0-9_+.-]++)/([\w.-]++|\[[^\[\]\n]*+\])")


def read_meson_build(manifest: Manifest) -> Iterator[Fact]:
    """Read a meson.build: its literal calls."""
    calls = [match.groups() for match in _CALL.finditer(strip_comments(manifest.text, "#"))]
    project = next((arguments for call, arguments in calls if call == "project"), "")
    needed = [
        (library, "")
        for call, arguments in calls
        if call == "dependency"
        for library in _STRING.findall(arguments)
    ]
    yield from _list_languages(project, manifest)
    yield manifest.make_technology("Meson", "build", "".join(_MESON.findall(project)[:1]))
    yield from manifest.find_known("native", needed)
    if not manifest.exists_above("meson.build"):
        yield manifest.make_command("build", "meson setup build && meson compile -C build")
        has_tests = any(call == "test" for call, _ in calls)
        if has_tests or manifest.find_beside("tests/meson.build", "test/meson.build"):
            yield manifest.make_command("test", "meson test -C build")
    yield from _list_programs(calls, manifest)
    yield manifest.make_package("".join(_STRING.findall(project)[:1]))


def _list_languages(project: str, manifest: Manifest) -> Iterator[Technology]:
    standards = dict(_STANDARD.findall(project))
    for word in _STRING.findall(project)[1:8]:
        if word in _LANGUAGES:
            yield manifest.make_technology(_LANGUAGES[word], "language", standards.get(word, ""))


def _list_programs(calls: list[tuple[str, ...]], manifest: Manifest) -> Iterator[EntryPoint]:
    for call, arguments in calls:
        name, *files = _STRING.findall(arguments) if call == "executable" else [""]
        paths = (manifest.resolve_path(file) for file in files)
        if source := next((path for path in paths if path in manifest.paths), ""):
            yield manifest.make_entry_point(name, source)


def read_configure_ac(manifest: Manifest) -> Iterator[Fact]:
    """Read a configure.ac."""
    for macro, language in (("AC_PROG_CC", "C"), ("AC_PROG_CXX", "C++")):
        if re.search(rf"\b{macro}\b", manifest.text):
            yield manifest.make_technology(language, "language")
    yield manifest.make_technology("Autotools", "build")
    if not manifest.exists_above("configure.ac"):
        script = f"{manifest.choose_program('./autogen.sh', 'autoreconf -i')} && "
        script = "" if manifest.find_beside("configure") else script
        yield from manifest.make_commands(build=f"{script}./configure && make", test="make check")
    if name := _INIT.search(manifest.text):
        yield manifest.make_package(name[1].strip())


def read_conanfile(manifest: Manifest) -> Iterator[Fact]:
    """Read references such as `fmt/10.2.1`, wherever they are in the file."""
    references = [
        (name, version.strip("[]"))
        for line in iter_code_lines(manifest.text)
        for name, version in _CONAN.findall(line)
    ]
    yield manifest.make_technology("Conan", "manager")
    yield from manifest.find_known("native", references)
    yield manifest.make_command("install", "conan install . --build=missing")


def read_vcpkg_json(manifest: Manifest) -> Iterator[Fact]:
    """Read the dependencies of vcpkg."""
    tree = parse_json(manifest.text)
    dependencies = tree.get("dependencies")
    needed = [
        (value if isinstance(value, str) else get_text_at(value, "name"), "")
        for value in (dependencies if isinstance(dependencies, list) else [])
    ]
    yield manifest.make_technology("vcpkg", "manager")
    yield from manifest.find_known("native", needed)
    yield manifest.make_command("install", "vcpkg install")
    yield manifest.make_package(get_text_at(tree, "name"), get_text_at(tree, "description"))
