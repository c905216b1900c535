"""Which program a command line runs, below the wrappers that people put in front of it.

The programs that build, test, lint, format, check types or run, in all ecosystems.
"""

from __future__ import annotations

import re

from cub.repomap.stack.facts import CommandPurpose

# What only says where or how the next word is run.
_WRAPPERS = (
    "uv run", "poetry run", "pdm run", "pipenv run", "rye run", "pixi run", "hatch run",
    "npx", "bunx", "npm exec", "pnpm exec", "pnpm dlx", "yarn dlx", "yarn exec",
    "bun x", "corepack",
    "bundle exec", "composer exec", "mise exec", "nix develop -c", "direnv exec",
    "sudo", "time", "env", "exec", "command", "nice", "xvfb-run", "cross-env", "dotenv",
    "python -m", "python3 -m", "py -m", "python -m coverage run -m", "coverage run -m",
)  # fmt: skip
_BY_FIRST: dict[str, list[list[str]]] = {}
for _wrapper in sorted(_WRAPPERS, key=len, reverse=True):
    _BY_FIRST.setdefault(_wrapper.split()[0], []).append(_wrapper.split())
# Options of wrappers that take the next word with them.
_VALUED = frozenset({
    "--directory", "--env", "--env-file", "--extra", "--filter", "--group", "--no-group",
    "--only-group", "--package", "--project", "--python", "--with", "-e", "-p", "-w",
})  # fmt: skip
# Managers whose own words come behind their options: `pnpm -r build`, `yarn --cwd web test`.
_MANAGERS = frozenset({
    "./gradlew", "./mvnw", "bun", "gmake", "gradle", "gradlew", "make", "mvn", "mvnw", "npm",
    "pnpm", "yarn",
})  # fmt: skip
_JOINTS = re.compile(r"&&|\|\||;|\||\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")


def split_commands(line: str) -> list[str]:
    """The commands of a line that has several: `tsc && vite build`."""
    return [part.strip() for part in _JOINTS.split(line) if part.strip()]


def unwrap_command(command: str) -> list[str]:
    """The program and its arguments: those of `pytest` for `CI=1 uv run --locked python -m pytest`.

    A path in front of the program goes too, except where it is a script of the project's own.
    """
    found = command.split()[:64]  # what comes later tells nothing about the purpose
    while found:
        rest = _unwrapped(found)
        if len(rest) == len(found):
            return _managed(rest)
        found = rest
    return []


def _unwrapped(found: list[str]) -> list[str]:
    if _ASSIGNMENT.fullmatch(found[0]):
        return found[1:]
    for wrapper in _BY_FIRST.get(found[0], ()):
        if found[: len(wrapper)] == wrapper:
            return _without_options(found[len(wrapper) :])
    return found


def _without_options(found: list[str]) -> list[str]:
    """What stands behind a wrapper's own options."""
    while found and found[0].startswith("-"):
        found = found[2:] if found[0] in _VALUED else found[1:]
    return found


def _managed(found: list[str]) -> list[str]:
    """A manager with its words in front of its options; any other program as it is."""
    if found and found[0] in _MANAGERS:
        return [found[0], *_without_options(found[1:])]
    return found


def make_command_key(command: str) -> str:
    """A text that is the same for commands that run the same, whatever their options."""
    return " && ".join(
        " ".join(
            word for word in unwrap_command(part) if word not in ("run", ".") and word[0] != "-"
        )
        for part in split_commands(command)
    )


_LISTED: dict[CommandPurpose, str] = {
    "test": """
        pytest, py.test, unittest, nose2, trial, behave, ward, jest, vitest, mocha, ava, tap, tape,
        jasmine, karma start, cypress run, playwright test, node --test, deno test, bun test,
        ng test, react-scripts test, vue-cli-service test:unit, wtr, web-test-runner, c8, nyc,
        go test, gotestsum, ginkgo, cargo test, cargo nextest, cross test, ctest, meson test,
        ninja test, bats, phpunit, pest, vendor/bin/phpunit, vendor/bin/pest, php artisan test,
        bin/phpunit, rspec, rails test, bin/rails test, cucumber, minitest,
        mvn test, mvn verify, mvnw test, mvnw verify, gradle test, gradle check, gradlew test,
        gradlew check, sbt test, lein test, clojure -X:test, mill test, bazel test,
        dotnet test, mix test, swift test, flutter test, dart test, zig build test, zig test,
        stack test, cabal test, dune test, dune runtest, prove, nx test, turbo test,
        turbo run test, lerna run test, manage.py test, python manage.py test, busted, tox, nox,
        hatch test
    """,
    "lint": """
        ruff check, flake8, pylint, pycodestyle, pydocstyle, bandit, vulture, pre-commit run,
        pre-commit, prek run, prek, eslint, oxlint, biome check, biome lint, biome ci, stylelint,
        tslint, standard, xo, ng lint, next lint, deno lint, knip, markdownlint, markdownlint-cli2,
        golangci-lint run, golangci-lint, go vet, staticcheck, revive, cargo clippy, cargo deny,
        clang-tidy, cppcheck, cpplint, rubocop, standardrb, bin/rubocop, brakeman, reek,
        phpcs, phpstan, psalm, vendor/bin/phpcs, vendor/bin/phpstan, vendor/bin/psalm, phpmd,
        phpstan analyse, ktlint, detekt, checkstyle, mvn checkstyle:check, gradle lint,
        gradlew lint, gradlew detekt, gradlew ktlintCheck, gradlew spotlessCheck, scalafix,
        spotless:check, mix credo, credo, swiftlint, flutter analyze, dart analyze,
        shellcheck, hadolint, yamllint, tflint, ansible-lint, buf lint, nx lint, turbo lint,
        turbo run lint, lerna run lint, import-linter, lint-imports, luacheck, selene, hlint
    """,
    "format": """
        ruff format, black, isort, yapf, autopep8, pyupgrade, prettier, biome format, dprint fmt,
        dprint, deno fmt, oxfmt, go fmt, gofmt, gofumpt, goimports, gci, cargo fmt, rustfmt,
        clang-format, php-cs-fixer, php-cs-fixer fix, vendor/bin/php-cs-fixer, vendor/bin/pint,
        pint, dotnet format, mix format, swift format, swiftformat, swift-format, dart format,
        gradle spotlessApply, gradlew spotlessApply, gradlew ktlintFormat, scalafmt, ktfmt,
        terraform fmt, tofu fmt, nixfmt, alejandra, nix fmt, shfmt, stylua, zig fmt, treefmt,
        buf format, rufo, ormolu, fourmolu
    """,
    "typecheck": """
        mypy, dmypy, pyright, basedpyright, ty, ty check, pyre, pytype, pyrefly, pyrefly check,
        vue-tsc, svelte-check, astro check, flow, flow check, tsgo, glint, deno check,
        cargo check, srb tc, steep check, dialyzer, mix dialyzer, nuxi typecheck, attw, tsd
    """,
    "build": """
        webpack, rollup, rolldown, parcel build, esbuild, tsup, tsdown, unbuild, microbundle,
        swc, babel, tsc, ng-packagr, vite build, next build, nuxt build, nuxi build, astro build,
        ng build, gatsby build, remix build, react-scripts build, vue-cli-service build,
        svelte-package, turbo build, turbo run build, nx build, nx run-many, lerna run build,
        deno compile, bun build, python -m build, build, pyproject-build, uv build, poetry build,
        pdm build, hatch build, flit build, maturin build, maturin develop, go build, cargo build,
        cargo xtask, cmake --build, ninja, meson compile, meson setup, cmake, bazel build, buck2,
        mvn package, mvn install, mvn compile, mvnw package, mvnw install, mvnw compile,
        gradle build, gradle assemble, gradlew build, gradlew assemble, sbt compile, sbt package,
        dotnet build, dotnet publish, msbuild, mix compile, mix release, swift build, xcodebuild,
        flutter build, zig build, stack build, cabal build, dune build, nix build, make,
        goreleaser, rake build, gem build, docker build, docker compose build, electron-builder,
        wasm-pack build, tauri build, buf generate
    """,
    "run": """
        manage.py runserver, python manage.py, flask run, uvicorn, gunicorn, hypercorn, daphne,
        streamlit run, fastapi dev, fastapi run, celery, next dev, next start, nuxt dev, nuxi dev,
        vite dev, vite serve, vite preview, vite, astro dev, ng serve, react-scripts start,
        vue-cli-service serve, gatsby develop, remix dev, webpack-dev-server, webpack serve,
        nodemon, tsx watch, ts-node-dev, nest start, expo start, electron, deno run, deno serve,
        cargo run, go run, air, rails server, rails s, bin/rails server, bin/dev, puma,
        rackup, foreman start, php artisan serve, symfony serve, dotnet run, dotnet watch,
        mix phx.server, iex -S, swift run, flutter run, gradle bootRun, gradlew bootRun,
        gradlew run, gradle run, mvn spring-boot:run, mvnw spring-boot:run, docker compose up,
        docker-compose up, npm start, yarn start, pnpm start, tauri dev,
        wrangler dev, honcho start, zig build run
    """,
    "install": """
        pip install, pip3 install, pip sync, uv sync, uv pip, poetry install, pdm install,
        pdm sync, pipenv install, conda env, pixi install, rye sync, npm ci, npm install, npm i,
        pnpm install, pnpm i, yarn install, yarn, bun install, bun i, deno install, lerna bootstrap,
        bundle install, bundle, bin/setup, composer install, go mod, cargo fetch, mix deps.get,
        mix setup, dotnet restore, swift package, flutter pub, dart pub
    """,
}
PROGRAM_PURPOSES: dict[str, CommandPurpose] = {
    " ".join(name.split()): purpose
    for purpose, listed in _LISTED.items()
    for name in listed.split(",")
}
CHECK_OPTIONS = frozenset({
    "--check", "--check-formatted", "--check-only", "--diff", "--dry-run", "--lint",
    "--list-different", "--test", "--verify-no-changes", "-c", "-d", "-l", "check", "lint",
})  # fmt: skip
FIX_OPTIONS = frozenset({
    "--apply", "--auto-correct", "--autocorrect", "--fix", "--write", "-A", "-a", "-w", "fix",
})  # fmt: skip
