from __future__ import annotations

import json
from typing import Any

import pytest

from tests.repomap.stack.projects import Files, commands, names, stack_of


def package(**more: Any) -> str:
    return json.dumps({"name": "acme", **more})


SCRIPTS = {"test": "vitest", "start": "node .", "build": "tsc", "setup": "sh x"}

COMMANDS: dict[str, tuple[Files, dict[str, list[str]]]] = {
    "npm": (
        {"package.json": package(scripts=SCRIPTS), "package-lock.json": "{}"},
        {
            "install": ["npm install", "npm run setup"],
            "build": ["npm run build"],
            "test": ["npm test"],
            "run": ["npm start"],
        },
    ),
    "pnpm": (
        {"package.json": package(scripts=SCRIPTS), "pnpm-lock.yaml": ""},
        {
            "install": ["pnpm install", "pnpm run setup"],
            "build": ["pnpm build"],
            "test": ["pnpm test"],
            "run": ["pnpm start"],
        },
    ),
    "yarn, by the field": (
        {
            "package.json": package(scripts={"lint": "eslint ."}, packageManager="yarn@4.1.0+x"),
            "package-lock.json": "{}",
        },
        {"install": ["yarn install"], "lint": ["yarn lint"]},
    ),
    "bun": (
        {"package.json": package(scripts={"test": "bun test"}), "bun.lock": ""},
        {"install": ["bun install"], "test": ["bun run test"]},
    ),
    "hooks and placeholders are no targets": (
        {
            "package.json": package(
                scripts={
                    "test": 'echo "Error: no test specified" && exit 1',
                    "prebuild": "tsc",
                    "build": "rollup -c",
                    "prepare": "npm run build",
                    "postinstall": "tsc",
                    "docs:build": "vitepress build",
                }
            )
        },
        {"install": ["npm install"], "build": ["npm run build"]},
    ),
    "check": (
        {
            "package.json": package(scripts={"check": "svelte-check"}),
            "a/package.json": package(scripts={"check": "pnpm -r check"}),
        },
        {"install": ["npm install"], "typecheck": ["npm run check"]},
    ),
    "variants": (
        {
            "package.json": package(
                scripts={
                    "lint:css": "stylelint .",
                    "lint": "eslint .",
                    "lint:fix": "eslint . --fix",
                    "test:e2e": "playwright test",
                    "test:unit": "vitest",
                    "test": "npm run test:unit",
                    "test:types": "tsc --noEmit",
                    "test:slow": "x",
                }
            )
        },
        {
            "install": ["npm install"],
            "test": ["npm test", "npm run test:e2e", "npm run test:unit"],
            "lint": ["npm run lint"],
            "format": ["npm run lint:fix"],
            "typecheck": ["npm run test:types"],
        },
    ),
    "tools where no script is": (
        {
            "package.json": package(
                devDependencies={
                    "vitest": "1",
                    "eslint": "9",
                    "prettier": "3",
                    "typescript": "5",
                    "mocha": "1",
                }
            ),
            "eslint.config.mjs": "",
            ".prettierrc": "",
            "tsconfig.json": "// comment",
            "pnpm-lock.yaml": "",
        },
        {
            "install": ["pnpm install"],
            "test": ["pnpm exec vitest run"],
            "lint": ["pnpm exec eslint ."],
            "format": ["pnpm exec prettier --write ."],
            "typecheck": ["pnpm exec tsc --noEmit"],
        },
    ),
    "tools without their files": (
        {"package.json": package(devDependencies={"eslint": "9", "typescript": "5"})},
        {"install": ["npm install"]},
    ),
    "a workspace": (
        {
            "package.json": package(workspaces={"packages": ["packages/*"]}, private=True),
            "packages/a/package.json": package(name="a", scripts={"test": "jest"}),
            "packages/b/package.json": package(name="b", scripts={"test": "jest"}),
            "site/package.json": package(name="site", scripts={"test": "jest"}),
            "yarn.lock": "",
        },
        {"install": ["yarn install"], "test": ["packages/a: yarn test", "packages/b: yarn test"]},
    ),
    "packages of a root that is none: one with its own lock file is installed on its own": (
        {
            "package.json": package(devDependencies={"husky": "9"}),
            "api/package.json": package(scripts={"test": "jest"}),
            "web/package.json": package(scripts={"test": "jest"}),
            "web/package-lock.json": "{}",
        },
        {
            "install": ["npm install", "web: npm install"],
            "test": ["api: npm test", "web: npm test"],
        },
    ),
    "a front end below a root that says nothing": (
        {
            "web/package.json": package(scripts={"dev": "vite"}),
            "web/pnpm-lock.yaml": "",
            "web/node_modules/x/package.json": package(scripts={"test": "x"}),
        },
        {"install": ["web: pnpm install"], "run": ["web: pnpm dev"]},
    ),
    "nx and turbo": (
        {
            "nx.json": json.dumps({"targetDefaults": {"build": {}, "@nx/x": {}, "test": {}}}),
            "turbo.json": '{\n // JSONC\n "tasks": {"build": {}, "lint": {},}}',
            "package.json": package(scripts={"test": "nx run-many -t test"}),
        },
        {
            "install": ["npm install"],
            "build": ["npx nx run-many -t build", "npx turbo run build"],
            "test": ["npm test", "npx nx run-many -t test"],
            "lint": ["npx turbo run lint"],
        },
    ),
    "deno": (
        {"deno.jsonc": '{"tasks": {"test": "deno test -A", "dev": {"command": "deno run x"}},}'},
        {
            "test": ["deno task test"],
            "lint": ["deno lint"],
            "format": ["deno fmt"],
            "run": ["deno task dev"],
        },
    ),
    "names that a shell takes apart": (
        {"package.json": package(scripts={"test && rm -rf ~": "x", "--test": "x", "te\nst": "x"})},
        {"install": ["npm install"]},
    ),
}


@pytest.mark.parametrize(("files", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_are_those_that_one_would_type(
    files: Files, expected: dict[str, list[str]]
) -> None:
    assert commands(stack_of(files)) == expected


TECHNOLOGIES: dict[str, tuple[Files, list[str]]] = {
    "a program": (
        {
            "package.json": package(
                private=True,
                engines={"node": ">=20"},
                packageManager="pnpm@9.1.0",
                dependencies={"react": "^18.2", "next": "workspace:*", "left-pad": "1"},
                devDependencies={"typescript": "~5.4", "vite": "5", "pinia": "2", "jest": "latest"},
            )
        },
        [
            "TypeScript ~5.4",
            "Node.js >=20",
            "React ^18.2",
            "Next.js",
            "Pinia 2",
            "pnpm 9.1.0",
            "Vite 5",
            "Jest",
        ],
    ),
    "a library": (
        {
            "package.json": package(
                peerDependencies={"vue": "3"}, devDependencies={"react": "18", "svelte": "5"}
            )
        },
        ["Node.js", "Vue 3", "Svelte 5", "npm"],
    ),
    "files whose names say everything": (
        {"vite.config.ts": "", ".eslintrc.cjs": "", "next.config.mjs": "", "biome.jsonc": ""},
        ["Next.js", "Vite", "ESLint", "Biome"],
    ),
    "versions of Node.js": ({".nvmrc": "v20.11\n"}, ["Node.js 20.11"]),
    "no version of Node.js": ({".nvmrc": "`rm`\n"}, ["Node.js"]),
    "an extension of VS Code": (
        {"package.json": package(engines={"vscode": "^1.80"})},
        ["VS Code extension ^1.80", "npm"],
    ),
    "deno": (
        {"deno.json": '{"imports": {"a": "npm:preact@^10", "b": "jsr:@hono/hono@4", "c": "./x"}}'},
        ["Deno", "Preact ^10"],
    ),
}


@pytest.mark.parametrize(("files", "expected"), TECHNOLOGIES.values(), ids=TECHNOLOGIES)
def test_the_technologies_are_those_that_matter(files: Files, expected: list[str]) -> None:
    assert names(stack_of(files)) == expected


@pytest.mark.parametrize(
    ("fields", "files", "expected"),
    [
        ({"bin": "./cli.js"}, ["cli.js"], [("acme", "cli.js")]),
        ({"bin": {"x": "dist/x.js"}}, ["src/x.ts"], [("x", "src/x.ts")]),
        ({"name": "@a/b", "bin": "dist/cli.mjs"}, ["source/cli.ts"], [("b", "source/cli.ts")]),
        ({"main": "lib/index.js"}, ["lib/index.js"], [("acme", "lib/index.js")]),
        ({"main": "lib"}, ["lib/index.js"], [("acme", "lib/index.js")]),
        ({"main": "./dist/index.cjs"}, ["src/index.ts"], [("acme", "src/index.ts")]),
        (
            {"exports": {".": {"types": "./dist/a.d.ts", "import": {"default": "./dist/a.js"}}}},
            ["src/a.tsx"],
            [("acme", "src/a.tsx")],
        ),
        ({"types": "dist/esm/main.d.ts"}, ["src/main.ts"], [("acme", "src/main.ts")]),
        ({}, ["index.js"], [("acme", "index.js")]),
        ({"private": True}, ["index.js"], []),
        ({"main": "dist/gone.js"}, ["src/other.ts"], []),
        ({"bin": "../../outside.js"}, [], []),
        ({"exports": {".": {"import": {"node": {"default": {"default": "x.js"}}}}}}, ["x.js"], []),
    ],
)
def test_entry_points_are_files_of_the_project(
    fields: dict[str, Any], files: list[str], expected: list[tuple[str, str]]
) -> None:
    project = {"package.json": package(**fields), **dict.fromkeys(files, "")}
    stack = stack_of(project)
    assert [(one.name, one.target) for one in stack.entry_points] == expected


@pytest.mark.parametrize(
    "root",
    [
        {"package.json": package(workspaces=["packages/**", "!packages/old"])},
        {"package.json": package(workspaces={"packages": ["./packages/*/", "packages/in/*"]})},
        {"pnpm-workspace.yaml": "packages:\n  - 'packages/**'\n  - '!packages/old'\n"},
        {"lerna.json": '{"packages": ["packages/*", "packages/*/*"]}'},
    ],
)
def test_members_of_workspaces_are_known(root: Files) -> None:
    files = {
        **root,
        "packages/a/package.json": package(name="a", scripts={"lint": "x"}),
        "packages/in/b/package.json": package(name="b", description="B\tb"),
        "packages/none/index.js": "",
        "other/package.json": package(name="other", scripts={"lint": "x"}),
        "turbo.json": "{}",
        "Makefile": "test:\n\ttrue\n",
    }
    stack = stack_of(files)
    found = [(one.folder, one.name, one.description) for one in stack.packages if one.folder]
    assert found == [("other", "other", ""), ("packages/a", "a", ""), ("packages/in/b", "b", "B b")]
    assert commands(stack)["lint"] == ["packages/a: " + _lint(root)]


def _lint(root: Files) -> str:
    return "pnpm lint" if "pnpm-workspace.yaml" in root else "npm run lint"


def test_deno_workspaces_have_members() -> None:
    files = {
        "deno.json": '{"workspace": ["./a"]}',
        "a/deno.json": '{"name": "@x/a", "exports": "./mod.ts"}',
        "a/mod.ts": "",
    }
    stack = stack_of(files)
    assert [(one.folder, one.name) for one in stack.packages] == [("a", "@x/a")]
    assert [(one.name, one.target) for one in stack.entry_points] == [("@x/a", "a/mod.ts")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "package.json",
            '{"a": 1',
            "line 1: invalid JSON: a comma or a closing",
        ),
        ("package.json", '{\n"a": 01}', "line 2: invalid JSON"),
        ("package.json", "[" * 100_000, "too deeply nested"),
        ("package.json", '{"a": ' * 100_000, "too deeply nested"),
        ("deno.json", '{"a": /* x', "line 1: unterminated comment"),
    ],
)
def test_a_broken_file_costs_itself_and_a_note(name: str, text: str, message: str) -> None:
    stack = stack_of({name: text, ".nvmrc": "20"})
    assert [note.path for note in stack.omissions] == [name]
    assert message in stack.omissions[0].message
    assert names(stack) == ["Node.js 20"]


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        '"a"',
        "",
        '{"name": 1, "scripts": [], "dependencies": 1, "workspaces": 1, "bin": 1, "exports": 1}',
        '{"scripts": {"test": 1, "lint": null}, "dependencies": {"react": {}}, "engines": []}',
        '{"workspaces": {"packages": 1}, "bin": {"a": 1}, "exports": {".": []}, "main": []}',
        '{"packageManager": 1, "devDependencies": {"typescript": null}, "description": []}',
        '{"tasks": 1, "imports": [], "workspace": {"members": 1}, "packages": 1, "pipeline": []}',
    ],
)
@pytest.mark.parametrize(
    "name", ["package.json", "deno.json", "nx.json", "turbo.json", "lerna.json"]
)
def test_values_of_other_kinds_are_passed_over(name: str, text: str) -> None:
    assert stack_of({name: text}).omissions == ()


def test_globs_with_many_wild_cards_match_nothing() -> None:
    deep = "/".join("a" * 200)
    files = {
        "package.json": package(workspaces=["*a" * 50 + "b", "**/" * 30 + "x", "*/*"]),
        f"{deep}/package.json": "{}",
        "a/b/package.json": package(name="b"),
    }
    assert [one.folder for one in stack_of(files).packages] == ["", "a/b"]
