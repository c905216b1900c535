"""Files of JavaScript's tools whose names say everything, and the versions of Node.js."""

from __future__ import annotations

import re

from cub.repomap.stack.facts import Facts, Manifest, Reader, Role, Technology

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


def _version_file(manifest: Manifest) -> Facts:
    """.nvmrc and .node-version: one version, or the name of one."""
    text = manifest.text.strip()
    version = text if _VERSION.fullmatch(text) else ""
    return Facts((Technology("Node.js", "runtime", version.removeprefix("v"), manifest.path),))


def _named(name: str, role: Role, globs: str) -> Reader:
    """A reader of files whose name says everything."""
    return Reader(
        globs.split(), lambda manifest: Facts((Technology(name, role, "", manifest.path),))
    )


def _typescript(manifest: Manifest) -> Facts:
    """tsconfig.json is for a compiler of TypeScript, whatever is in it."""
    return Facts((Technology("TypeScript", "language", "", manifest.path),))


READERS = (
    Reader((".nvmrc", ".node-version"), _version_file),
    Reader(("tsconfig.json", "tsconfig.base.json"), _typescript),
    *(_named(name, "framework", globs) for name, globs in _FRAMEWORKS.items()),
    *(_named(name, "library", globs) for name, globs in _LIBRARIES.items()),
    *(_named(name, "build", globs) for name, globs in _BUILDERS.items()),
    *(_named(name, "tool", globs) for name, globs in _TOOLS.items()),
)
