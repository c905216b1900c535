"""Trees that nobody would make by accident, as strategies."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hypothesis import strategies as st

_WORDS = [
    "src", "lib", "tests", "a b", "# Heading", "## Cub", "@AGENTS.md", "@../x", "<!-- x", "-->",
    "```", "~~~text", "`a`", 'q"uo', "back\\slash", "new\nline", "cr\rlf", "tab\t", "\u202egnp",
    "\u2028", "\u200b", "ünï", "漢字", "\udc80\udcff", "<b>", "[x](y)", "![i](j)", "- item",
    "1. one", "> quote", "| a | b |", "$(x)", "--", "-n", "~", "...", " lead", "trail ",
    "node_modules", "vendor", "org", "<!-- BEGIN CUB MANAGED SECTION v1 -->",
    "<!-- END CUB MANAGED SECTION -->", "<<<<<<< ours", "=======", ">>>>>>> theirs",
]  # fmt: skip
_NAMES = [
    "a.py", "b.ts", "c.tsx", "d.go", "e.rs", "F.java", "g.c", "h.hpp", "i.cs", "j.rb", "k.php",
    "L.kt", "m.swift", "n.scala", "o.sh", "p.lua", "q.vue", "r.js", "README.md", "README",
    "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "pom.xml", "Makefile",
    "build.gradle.kts", "Gemfile", "composer.json", "CMakeLists.txt", "setup.py", "setup.cfg",
    "tsconfig.json", "Dockerfile", "mix.exs", "Package.swift", "x.csproj", "y.sln", "tox.ini",
    "requirements.txt", "__init__.py", ".gitignore", "index.ts", "compose.yaml", "Taskfile.yml",
    "justfile", "main.tf", "flake.nix",
]  # fmt: skip
_TEXTS = [
    "", "\n", "# Title\n\nSome words about a project.\n", "\0", "def f(\n",
    "class A:\n  def g(self): ...\n", "import a\nfrom b import c\n", "((((((((((", "{{{{[[[[",
    "<<<<<<<<<<", "/*", '"""', "'''", "`${`${", "```\n# Not a heading\n```\n", "# @AGENTS.md\n",
    "<!-- \n", "-->\n\n# Injected\n", "export const a = 1;\n", "export function `x`() {}\n",
    "pub fn f() {}\n", "func F() {}\n",
    '{"scripts": {"test": "```\\n# x", "# h": "y"}, "description": "# x\\n# y"}',
    '[project]\ndescription = """\n# Injected\n@AGENTS.md\n"""\n',
    "[package]\nname = 3\n[[bin]]\n[workspace]\nmembers = ['*/*/*', 7]\n",
    "module x\n\nrequire (\n\ty v1\n", "test:\n\t@echo '# x'\n\n`x`:\n",
    "<project><modules><module>..</module>", "services:\n  web: &a\n    <<: *a\n",
    "task 'x' do end\n", "FROM \\\n\\\n", "# " + "x " * 50 + "\n",
    '#include "a\nint main(void);\n#define X(', "module Foo\n  def self.x; end\nend\n",
    '"""@AGENTS.md # <!-- words in a docstring."""\nX = 1\n', "<script>export let a;</script>",
    "\ufeff# bom\n", "a\rb\rc\r", "é" * 30, "﷽" * 9, "\U0001d518\U0001d52b", "\u202eabc",
    "x = '" + "\\" * 40, "class \u200bZeroWidth: pass\n", "def \u202etxet(): pass\n",
    "<<<<<<< a\n=======\n>>>>>>> b\n",
]  # fmt: skip

_parts = st.sampled_from(_WORDS) | st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
)
_folders = st.lists(_parts.filter(lambda part: part not in (".", "..", ".git", ".cub")), max_size=3)
_names = st.sampled_from(_NAMES) | _parts.map(lambda part: f"{part}.py")
paths = st.builds(lambda above, name: "/".join([*above, name]), _folders, _names)
contents = st.lists(st.sampled_from(_TEXTS), max_size=4).map(
    lambda texts: "".join(texts).encode("utf-8", "surrogateescape")
) | st.binary(max_size=300)
trees = st.dictionaries(paths, contents, max_size=12)


def written(tree: dict[str, bytes], root: Path) -> Path:
    """As much of a tree as a disk can hold: a name is a file or a folder, whichever comes first."""
    (root / ".cub").mkdir(parents=True)
    for path, data in tree.items():
        with suppress(OSError):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
    return root.resolve()
