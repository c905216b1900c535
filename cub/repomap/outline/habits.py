"""Which tools a project has chosen for its code, by their configuration and its manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cub.repomap.stack.facts import Technology


class _Tool(NamedTuple):
    """Files at the root that configure a tool; a row of a manifest proves it by its name."""

    name: str
    files: str = ""


_FORMATTERS = (
    _Tool("Ruff", r"\.?ruff\.toml"),
    _Tool("Black"),
    _Tool("YAPF", r"\.style\.yapf"),
    _Tool("isort", r"\.isort\.cfg"),
    _Tool("Prettier", r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+"),
    _Tool("Biome", r"biome\.jsonc?"),
    _Tool("Oxfmt", r"\.oxfmtrc\.jsonc?"),
    _Tool("dprint", r"\.?dprint\.jsonc?"),
    _Tool("rustfmt", r"\.?rustfmt\.toml"),
    _Tool("clang-format", r"\.clang-format"),
    _Tool("Spotless"),
    _Tool("ktlint"),
    _Tool("scalafmt", r"\.scalafmt\.conf"),
    _Tool("SwiftFormat", r"\.swiftformat|\.swift-format"),
    _Tool("StyLua", r"\.?stylua\.toml"),
    _Tool("PHP CS Fixer", r"\.php-cs-fixer(?:\.dist)?\.php"),
    _Tool("Laravel Pint", r"pint\.json"),
    _Tool("mix format", r"\.formatter\.exs"),
    _Tool("Fourmolu", r"fourmolu\.yaml"),
    _Tool("ocamlformat", r"\.ocamlformat"),
)
_LINTERS = (
    _Tool("Ruff", r"\.?ruff\.toml"),
    _Tool("Flake8", r"\.flake8"),
    _Tool("Pylint", r"\.?pylintrc(?:\.toml)?"),
    _Tool("ESLint", r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?"),
    _Tool("Biome", r"biome\.jsonc?"),
    _Tool("Oxlint", r"\.?oxlintrc\.jsonc?"),
    _Tool("XO"),
    _Tool("Standard"),
    _Tool("Stylelint", r"\.stylelintrc(?:\.\w+)?|stylelint\.config\.\w+"),
    _Tool("golangci-lint", r"\.golangci\.(?:ya?ml|toml|json)"),
    _Tool("Clippy", r"\.?clippy\.toml"),
    _Tool("RuboCop", r"\.rubocop\.yml"),
    _Tool("Standard Ruby", r"\.standard\.yml"),
    _Tool("PHP_CodeSniffer", r"\.?phpcs\.xml(?:\.dist)?"),
    _Tool("detekt", r"detekt\.ya?ml"),
    _Tool("Checkstyle", r"checkstyle\.xml"),
    _Tool("SwiftLint", r"\.swiftlint\.yml"),
    _Tool("Credo", r"\.credo\.exs"),
    _Tool("clang-tidy", r"\.clang-tidy"),
    _Tool("HLint", r"\.hlint\.yaml"),
    _Tool("ShellCheck", r"\.shellcheckrc"),
    _Tool("markdownlint", r"\.markdownlint(?:-cli2)?\.\w+"),
)
_TYPES = (
    _Tool("mypy", r"\.?mypy\.ini"),
    _Tool("Pyright", r"pyrightconfig\.json"),
    _Tool("basedpyright"),
    _Tool("ty", r"ty\.toml"),
    _Tool("Pyrefly", r"pyrefly\.toml"),
    _Tool("PHPStan", r"phpstan(?:\.dist)?\.neon(?:\.dist)?"),
    _Tool("Psalm", r"psalm\.xml(?:\.dist)?"),
    _Tool("Sorbet"),
    _Tool("Steep", r"Steepfile"),
    _Tool("Dialyxir"),
)
_HOOKS = (
    _Tool("pre-commit", r"\.pre-commit-config\.ya?ml"),
    _Tool("Husky", r"\.husky/[\w-]+"),
    _Tool("Lefthook", r"\.?lefthook\.ya?ml"),
    _Tool("simple-git-hooks"),
)
_KINDS = (
    ("formatted with", _FORMATTERS),
    ("linted with", _LINTERS),
    ("types checked with", _TYPES),
    ("commit hooks:", _HOOKS),
)


def tool_habits(paths: Sequence[str], technologies: Sequence[Technology]) -> Iterator[str]:
    """A statement for each kind of tool that is configured: `linted with ESLint`."""
    near = [path for path in paths if path.count("/") < 1 or path.startswith(".husky/")]
    named = {row.name.lower() for row in technologies if row.role == "tool"}
    for words, tools in _KINDS:
        found = [tool.name for tool in tools if tool.name.lower() in named or _is_there(tool, near)]
        if found:
            yield f"{words} {_listed(found[:3])}"
    if ".editorconfig" in near:
        yield "editor settings in .editorconfig"


def _is_there(tool: _Tool, paths: Sequence[str]) -> bool:
    return bool(tool.files) and any(re.fullmatch(tool.files, path) for path in paths)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
