"""Which files of a project are manifests, found by their names alone.

All readers of manifests, those whose facts count first in front; imported where needed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.stack.facts import ManifestReader

MAX_MANIFESTS = 300
_WILD = re.compile(r"[*?]|\[[^]]*\]")
_TEMPLATES = re.compile(r"templates?(?:[-_].*)?|skeletons?|scaffold(?:s|ing)?|.*\{\{.*")


class _Glob(NamedTuple):
    """One way to be read: the place of the reader, and what the path has to look like.

    A glob with a wild card needs an ending, as in "*.csproj", or a start, as in "Dockerfile.*".
    `literal` is its longest part without wild cards.
    """

    reader: int
    pattern: str
    literal: str


class ManifestMatch(NamedTuple):
    """A manifest and those who can read it, by their place among all readers.

    `has_folder_glob`: a glob names the folder that it stands in.
    """

    path: str
    readers: tuple[int, ...]
    has_folder_glob: bool


def find_manifests(paths: Iterable[str], readers: Sequence[ManifestReader]) -> list[ManifestMatch]:
    """The manifests among the paths: shallow ones first, then by the order of the readers.

    A glob with a folder in it (".github/workflows/*.yml") is met by that very folder only. Other
    manifests count unless they stand in a hidden folder, or in one of tests, examples,
    documentation, templates, or somebody else's code.
    """
    index = _Index(readers)
    kinds = FileClassifier(())
    found = map(index.match, index.candidates(paths))
    kept = (one for one in found if one.readers and _counts(one, kinds))
    return sorted(set(kept), key=lambda one: (one.path.count("/"), one.readers, one.path))


def _counts(found: ManifestMatch, classifier: FileClassifier) -> bool:
    folder = found.path.rpartition("/")[0]
    if not folder or found.has_folder_glob:
        return True
    if any(name[0:1] == "." or _TEMPLATES.fullmatch(name) for name in folder.split("/")):
        return False
    return classifier.classify(f"{folder}/manifest") is FileKind.SOURCE


class _Index:
    """The globs by what a path must have to meet them, so that most paths cost a few look-ups."""

    def __init__(self, readers: Sequence[ManifestReader]) -> None:
        self.names: dict[str, list[_Glob]] = {}
        self.endings: dict[str, list[_Glob]] = {}
        self.starts: dict[str, list[_Glob]] = {}
        self.folders: dict[str, list[_Glob]] = {}
        for number, reader in enumerate(readers):
            for pattern in reader.globs:
                self._add(_Glob(number, pattern, max(_WILD.split(pattern), key=len)))

    def _add(self, glob: _Glob) -> None:
        folder, _, name = glob.pattern.rpartition("/")
        start, ending = name.partition(".")[0], name.rpartition(".")[2]
        if not _WILD.search(name):
            self.names.setdefault(name, []).append(glob)
        elif folder and not _WILD.search(folder):
            self.folders.setdefault(folder, []).append(glob)
        elif "." in name and not _WILD.search(ending):
            self.endings.setdefault(ending, []).append(glob)
        else:
            self.starts.setdefault(start, []).append(glob)

    def candidates(self, paths: Iterable[str]) -> list[str]:
        """The paths that may meet a glob."""
        names, endings, starts, folders = self.names, self.endings, self.starts, self.folders
        found = []
        for path in paths:
            folder, _, name = path.rpartition("/")
            start, _, ending = name.partition(".")
            if (
                name in names
                or start in starts
                or folder in folders
                or ending in endings
                or ("." in ending and ending.rpartition(".")[2] in endings)
            ):
                found.append(path)
        return found

    def match(self, path: str) -> ManifestMatch:
        """The path with the readers that have a glob that it meets."""
        folder, _, name = path.rpartition("/")
        globs = [
            *self.names.get(name, ()),
            *self.endings.get(name.rpartition(".")[2], ()),
            *self.starts.get(name.partition(".")[0], ()),
            *self.folders.get(folder, ()),
        ]
        met = [glob for glob in globs if glob.literal in path and _meets(path, glob.pattern)]
        named = any("/" in glob.pattern for glob in met)
        return ManifestMatch(path, tuple(sorted({glob.reader for glob in met})), named)


def _meets(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    pieces, wanted = path.split("/"), glob.split("/")
    return len(pieces) == len(wanted) and all(map(fnmatchcase, pieces, wanted))


# One row after the other: a room, and what the names of its manifests are, begin with (`x.*`), or
# end in.
_ROWS = """
runners.readers           Makefile makefile GNUmakefile justfile Justfile .justfile JUSTFILE
runners.readers           Taskfile.* taskfile.* mise.* .mise.* Procfile .tool-versions setup.*
runners.readers           bootstrap.* install.* build.* compile.* test.* tests.* lint.* format.*
runners.readers           fmt.* typecheck.* dev.* serve.* server.* start.*
python.readers            pyproject.toml setup.* tox.ini noxfile.py Pipfile *.txt *.in environment.*
python.readers            manage.py .python-version pytest.* .pytest.* mypy.ini .mypy.* ruff.*
python.readers            .ruff.* ty.toml .flake8 .pylintrc pylintrc .isort.* pyrightconfig.json
python.readers            .coveragerc .pre-commit-config.*
node.readers              package.json deno.* pnpm-workspace.* lerna.json nx.json turbo.json .nvmrc
node.readers              .node-version tsconfig.* next.* nuxt.* svelte.* astro.* angular.json
node.readers              gatsby-config.* docusaurus.* tailwind.* vite.* webpack.* rollup.* rspack.*
node.readers              esbuild.* tsup.* babel.* .babelrc .babelrc.* .swcrc gulpfile.* Gruntfile.*
node.readers              vitest.* jest.* .mocharc .mocharc.* karma.* playwright.* cypress.*
node.readers              eslint.* .eslintrc .eslintrc.* .oxlintrc.* biome.* .prettierrc
node.readers              .prettierrc.* prettier.* .stylelintrc .stylelintrc.* stylelint.* dprint.*
node.readers              .dprint.*
readers.rust            Cargo.toml
readers.rust:RUST_TOOLS_READERS config config.* rust-toolchain rust-toolchain.* clippy.* .clippy.*
readers.rust:RUST_TOOLS_READERS rustfmt.* .rustfmt.* deny.toml nextest.*
readers.go              go.mod go.work .golangci.* magefile.go
readers.maven                 pom.xml
readers.gradle                build.*
readers.gradle_settings       settings.* libs.* gradle-wrapper.* gradle.*
readers.scala                 build.* .scalafmt.*
readers.ruby            Gemfile gems.rb *.gemspec
readers.ruby:RUBY_TOOLS_READERS      Rakefile Rakefile.* rakefile .ruby-version .rubocop.yml .rspec
readers.ruby:RUBY_TOOLS_READERS      application.rb
readers.php             composer.json artisan phpunit.* phpstan.*
readers.dotnet          *.sln *.slnx *.csproj *.fsproj *.vbproj global.json *.props
readers.swift           Package.swift Podfile .swiftlint.yml .swiftformat .swift-format
readers.cmake           CMakeLists.txt CMakePresets.json
readers.c_cpp          meson.build configure.* conanfile.* vcpkg.json
readers.elixir            mix.exs rebar.config gleam.toml
readers.containers     Dockerfile Dockerfile.* *.Dockerfile Containerfile Containerfile.* *.yml
readers.containers     *.yaml
readers.infrastructure flake.nix *.tf Chart.yaml serverless.* ansible.cfg
readers.ci_workflows             *.yml *.yaml
"""
_ROOMS: dict[str, set[str]] = {}
for _room, *_names in (line.split() for line in _ROWS.split("\n") if line):
    _ROOMS.setdefault(_room, set()).update(_names)


def load_readers(paths: Iterable[str]) -> tuple[ManifestReader, ...]:
    """The readers of every room that one of the paths may be for."""
    seen: set[str] = set()
    for name in {posixpath.basename(path) for path in paths}:
        seen.update((name, f"{name.partition('.')[0]}.*", f"*.{name.rpartition('.')[2]}"))
        if name.startswith("."):
            seen.add(f".{name[1:].partition('.')[0]}.*")
    rooms = (room for room, names in _ROOMS.items() if not names.isdisjoint(seen))
    return tuple(reader for room in rooms for reader in _readers_of(room))


def _readers_of(room: str) -> tuple[ManifestReader, ...]:
    module, _, name = room.partition(":")
    readers: tuple[ManifestReader, ...] = getattr(
        import_module(f"cub.repomap.stack.{module}"), name or "READERS"
    )
    return readers


def load_all_readers() -> tuple[ManifestReader, ...]:
    """The readers of all rooms."""
    return tuple(reader for room in _ROOMS for reader in _readers_of(room))
