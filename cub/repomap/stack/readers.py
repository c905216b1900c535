"""All readers of manifests, those whose facts count first in front; imported where needed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from importlib import import_module

from cub.repomap.stack.facts import Reader

# One row after the other: a room, and what the names of its manifests are, begin with (`x.*`), or
# end in.
_ROWS = """
runners         Makefile makefile GNUmakefile justfile Justfile .justfile JUSTFILE Taskfile.*
runners         taskfile.* mise.* .mise.* Procfile .tool-versions setup.* bootstrap.* install.*
runners         build.* compile.* test.* tests.* lint.* format.* fmt.* typecheck.* dev.* serve.*
runners         server.* start.*
python          pyproject.toml setup.* tox.ini noxfile.py Pipfile *.txt *.in environment.*
python          manage.py .python-version pytest.* .pytest.* mypy.ini .mypy.* ruff.* .ruff.*
python          ty.toml .flake8 .pylintrc pylintrc .isort.* pyrightconfig.json .coveragerc
python          .pre-commit-config.*
node            package.json deno.* pnpm-workspace.* lerna.json nx.json turbo.json .nvmrc
node            .node-version tsconfig.* next.* nuxt.* svelte.* astro.* angular.json
node            gatsby-config.* docusaurus.* tailwind.* vite.* webpack.* rollup.* rspack.*
node            esbuild.* tsup.* babel.* .babelrc .babelrc.* .swcrc gulpfile.* Gruntfile.*
node            vitest.* jest.* .mocharc .mocharc.* karma.* playwright.* cypress.* eslint.*
node            .eslintrc .eslintrc.* .oxlintrc.* biome.* .prettierrc .prettierrc.* prettier.*
node            .stylelintrc .stylelintrc.* stylelint.* dprint.* .dprint.*
rust            Cargo.toml
rust_tools      config config.* rust-toolchain rust-toolchain.* clippy.* .clippy.* rustfmt.*
rust_tools      .rustfmt.* deny.toml nextest.*
go              go.mod go.work .golangci.* magefile.go
maven           pom.xml
gradle          build.*
gradle_settings settings.* libs.* gradle-wrapper.* gradle.*
scala           build.* .scalafmt.*
ruby            Gemfile gems.rb *.gemspec
ruby_tools      Rakefile Rakefile.* rakefile .ruby-version .rubocop.yml .rspec application.rb
php             composer.json artisan phpunit.* phpstan.*
dotnet          *.sln *.slnx *.csproj *.fsproj *.vbproj global.json *.props
swift           Package.swift Podfile .swiftlint.yml .swiftformat .swift-format
cmake           CMakeLists.txt CMakePresets.json
native          meson.build configure.* conanfile.* vcpkg.json
beam            mix.exs rebar.config gleam.toml
containers      Dockerfile Dockerfile.* *.Dockerfile Containerfile Containerfile.* *.yml *.yaml
infrastructure  flake.nix *.tf Chart.yaml serverless.* ansible.cfg
ci              *.yml *.yaml
"""
_ROOMS: dict[str, set[str]] = {}
for _room, *_names in (line.split() for line in _ROWS.split("\n") if line):
    _ROOMS.setdefault(_room, set()).update(_names)


def readers_for(paths: Iterable[str]) -> tuple[Reader, ...]:
    """The readers of every room that one of the paths may be for."""
    seen: set[str] = set()
    for name in {posixpath.basename(path) for path in paths}:
        seen.update((name, f"{name.partition('.')[0]}.*", f"*.{name.rpartition('.')[2]}"))
        if name.startswith("."):
            seen.add(f".{name[1:].partition('.')[0]}.*")
    rooms = (room for room, names in _ROOMS.items() if not names.isdisjoint(seen))
    modules = (import_module(f"cub.repomap.stack.{room}") for room in rooms)
    return tuple(reader for module in modules for reader in module.READERS)


def all_readers() -> tuple[Reader, ...]:
    """The readers of all rooms."""
    modules = (import_module(f"cub.repomap.stack.{room}") for room in _ROOMS)
    return tuple(reader for module in modules for reader in module.READERS)
