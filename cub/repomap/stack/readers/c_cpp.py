"""Read the build files of C and C++ without CMake: Meson, Autotools, Conan and vcpkg."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import EntryPoint, ManifestFacts, Technology
from cub.repomap.stack.formats import get_text_at, iter_code_lines, parse_json, strip_comments
from cub.repomap.stack.known_packages import find_known_technologies
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


def read_meson_build(manifest: Manifest) -> ManifestFacts:
    """Read a meson.build: its literal calls."""
    calls = [match.groups() for match in _CALL.finditer(strip_comments(manifest.text, "#"))]
    project = next((arguments for call, arguments in calls if call == "project"), "")
    needed = [
        (library, "")
        for call, arguments in calls
        if call == "dependency"
        for library in _STRING.findall(arguments)
    ]
    name = "".join(_STRING.findall(project)[:1])
    has_tests = any(call == "test" for call, _ in calls)
    if has_tests or manifest.find_beside("tests/meson.build", "test/meson.build"):
        test = manifest.make_commands(test="meson test -C build")
    else:
        test = ()
    build = manifest.make_commands(build="meson setup build && meson compile -C build")
    return ManifestFacts(
        (
            *_list_languages(project, manifest),
            manifest.make_technology("Meson", "build", "".join(_MESON.findall(project)[:1])),
            *find_known_technologies("native", needed, manifest.path),
        ),
        () if manifest.exists_above("meson.build") else (*build, *test),
        tuple(_list_programs(calls, manifest)),
        (manifest.make_package(name),) if name else (),
    )


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


def read_configure_ac(manifest: Manifest) -> ManifestFacts:
    """Read a configure.ac."""
    name = _INIT.search(manifest.text)
    macros = (("AC_PROG_CC", "C"), ("AC_PROG_CXX", "C++"))
    languages = [name for macro, name in macros if re.search(rf"\b{macro}\b", manifest.text)]
    script = "" if manifest.find_beside("configure") else "autoreconf -i && "
    script = "./autogen.sh && " if script and manifest.find_beside("autogen.sh") else script
    commands = manifest.make_commands(build=f"{script}./configure && make", test="make check")
    return ManifestFacts(
        (
            *(manifest.make_technology(language, "language") for language in languages),
            manifest.make_technology("Autotools", "build"),
        ),
        () if manifest.exists_above("configure.ac") else commands,
        packages=(manifest.make_package(name[1].strip()),) if name else (),
    )


def read_conanfile(manifest: Manifest) -> ManifestFacts:
    """Read references such as `fmt/10.2.1`, wherever they are in the file."""
    references = [
        (name, version.strip("[]"))
        for line in iter_code_lines(manifest.text)
        for name, version in _CONAN.findall(line)
    ]
    return ManifestFacts(
        (
            manifest.make_technology("Conan", "manager"),
            *find_known_technologies("native", references, manifest.path),
        ),
        manifest.make_commands(install="conan install . --build=missing"),
    )


def read_vcpkg_json(manifest: Manifest) -> ManifestFacts:
    """Read the dependencies of vcpkg."""
    tree = parse_json(manifest.text)
    dependencies = tree.get("dependencies")
    needed = [
        (value if isinstance(value, str) else get_text_at(value, "name"), "")
        for value in (dependencies if isinstance(dependencies, list) else [])
    ]
    name, description = get_text_at(tree, "name"), get_text_at(tree, "description")
    return ManifestFacts(
        (
            manifest.make_technology("vcpkg", "manager"),
            *find_known_technologies("native", needed, manifest.path),
        ),
        manifest.make_commands(install="vcpkg install"),
        packages=(manifest.make_package(name, description),) if name else (),
    )
