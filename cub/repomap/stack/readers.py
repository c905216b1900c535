"""All readers of manifests, those whose facts count first in front; imported where needed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from importlib import import_module

from cub.repomap.stack.facts import Reader

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
languages.rust            Cargo.toml
languages.rust_tools      config config.* rust-toolchain rust-toolchain.* clippy.* .clippy.*
languages.rust_tools      rustfmt.* .rustfmt.* deny.toml nextest.*
languages.go              go.mod go.work .golangci.* magefile.go
jvm.maven                 pom.xml
jvm.gradle                build.*
jvm.gradle_settings       settings.* libs.* gradle-wrapper.* gradle.*
jvm.scala                 build.* .scalafmt.*
languages.ruby            Gemfile gems.rb *.gemspec
languages.ruby_tools      Rakefile Rakefile.* rakefile .ruby-version .rubocop.yml .rspec
languages.ruby_tools      application.rb
languages.php             composer.json artisan phpunit.* phpstan.*
languages.dotnet          *.sln *.slnx *.csproj *.fsproj *.vbproj global.json *.props
languages.swift           Package.swift Podfile .swiftlint.yml .swiftformat .swift-format
languages.cmake           CMakeLists.txt CMakePresets.json
languages.native          meson.build configure.* conanfile.* vcpkg.json
languages.beam            mix.exs rebar.config gleam.toml
operations.containers     Dockerfile Dockerfile.* *.Dockerfile Containerfile Containerfile.* *.yml
operations.containers     *.yaml
operations.infrastructure flake.nix *.tf Chart.yaml serverless.* ansible.cfg
operations.ci             *.yml *.yaml
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
