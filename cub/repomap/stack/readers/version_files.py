"""Files of JavaScript's tools whose names say everything, and the versions of Node.js.

Versions of languages and tools in one file: .tool-versions.
"""

from __future__ import annotations

import re

from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    Technology,
    TechnologyRole,
)

# What people write them in stands behind the last dot.
_TOOLS = {
    "Vitest": "vitest.config.* vitest.workspace.*",
    "Jest": "jest.config.*",
    "Mocha": ".mocharc .mocharc.*",
    "Karma": "karma.conf.*",
    "Playwright": "playwright.config.*",
    "Cypress": "cypress.config.* cypress.json",
    "ESLint": "eslint.config.* .eslintrc .eslintrc.*",
    "Oxlint": ".oxlintrc.json",
    "Biome": "biome.json biome.jsonc",
    "Prettier": ".prettierrc .prettierrc.* prettier.config.*",
    "Stylelint": ".stylelintrc .stylelintrc.* stylelint.config.*",
    "dprint": "dprint.json dprint.jsonc .dprint.json",
}
_BUILDERS = {
    "Vite": "vite.config.*",
    "webpack": "webpack.config.*",
    "Rollup": "rollup.config.*",
    "Rspack": "rspack.config.*",
    "esbuild": "esbuild.config.*",
    "tsup": "tsup.config.*",
    "Babel": "babel.config.* .babelrc .babelrc.*",
    "SWC": ".swcrc",
    "gulp": "gulpfile.*",
    "Grunt": "Gruntfile.*",
}
_FRAMEWORKS = {
    "Next.js": "next.config.*",
    "Nuxt": "nuxt.config.*",
    "SvelteKit": "svelte.config.*",
    "Astro": "astro.config.*",
    "Angular": "angular.json",
    "Gatsby": "gatsby-config.*",
    "Docusaurus": "docusaurus.config.*",
}
_LIBRARIES = {"Tailwind CSS": "tailwind.config.*"}
_VERSION = re.compile(r"v?\d{1,3}(?:\.[\dx]{1,4}){0,2}|lts/[\w*-]{1,20}|node|stable")


def _version_file(manifest: Manifest) -> ManifestFacts:
    """.nvmrc and .node-version: one version, or the name of one."""
    text = manifest.text.strip()
    version = text if _VERSION.fullmatch(text) else ""
    return ManifestFacts(
        (Technology("Node.js", "runtime", version.removeprefix("v"), manifest.path),)
    )


def _named(name: str, role: TechnologyRole, globs: str) -> ManifestReader:
    """A reader of files whose name says everything."""
    return ManifestReader(
        globs.split(), lambda manifest: ManifestFacts((Technology(name, role, "", manifest.path),))
    )


def _typescript(manifest: Manifest) -> ManifestFacts:
    """tsconfig.json is for a compiler of TypeScript, whatever is in it."""
    return ManifestFacts((Technology("TypeScript", "language", "", manifest.path),))


READERS = (
    ManifestReader((".nvmrc", ".node-version"), _version_file),
    ManifestReader(("tsconfig.json", "tsconfig.base.json"), _typescript),
    *(_named(name, "framework", globs) for name, globs in _FRAMEWORKS.items()),
    *(_named(name, "library", globs) for name, globs in _LIBRARIES.items()),
    *(_named(name, "build", globs) for name, globs in _BUILDERS.items()),
    *(_named(name, "tool", globs) for name, globs in _TOOLS.items()),
)


_KNOWN: dict[str, tuple[str, TechnologyRole]] = {
    "python": ("Python", "language"),
    "ruby": ("Ruby", "language"),
    "golang": ("Go", "language"),
    "go": ("Go", "language"),
    "rust": ("Rust", "language"),
    "java": ("Java", "language"),
    "kotlin": ("Kotlin", "language"),
    "elixir": ("Elixir", "language"),
    "erlang": ("Erlang", "language"),
    "php": ("PHP", "language"),
    "nodejs": ("Node.js", "runtime"),
    "node": ("Node.js", "runtime"),
    "deno": ("Deno", "runtime"),
    "bun": ("Bun", "manager"),
    "pnpm": ("pnpm", "manager"),
    "yarn": ("Yarn", "manager"),
    "poetry": ("Poetry", "manager"),
    "uv": ("uv", "manager"),
    "terraform": ("Terraform", "tool"),
}
_LINE = re.compile(r"([a-z][\w-]*)[ \t]+([\w.+-]{1,30})", re.ASCII)


def _read(manifest: Manifest) -> ManifestFacts:
    found = (_LINE.match(line) for line in manifest.text.split("\n")[:200])
    named = [line for line in found if line and line[1] in _KNOWN]
    return ManifestFacts(tuple(Technology(*_KNOWN[one[1]], one[2], manifest.path) for one in named))


TOOL_VERSIONS_READERS = (ManifestReader((".tool-versions",), _read),)
