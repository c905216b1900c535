"""Which language a file is written in, by its name.

How much of a project is written in which language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import ListedFile


class Language(NamedTuple):
    """`name` as people write it; `grammar` parses it, "" where cub has none."""

    name: str
    grammar: str = ""


# One row a language: name, grammar, endings (of the base name, without the dot).
_ROWS = """
Python      python      py pyi pyw
JavaScript  javascript  js mjs cjs jsx
TypeScript  typescript  ts mts cts
TypeScript  tsx         tsx
Go          go          go
Rust        rust        rs
Java        java        java
C           c           c h
C++         cpp         cc cpp cxx c++ hh hpp hxx h++ ipp inl
C#          csharp      cs
Ruby        ruby        rb rake gemspec
PHP         php         php phtml
Kotlin      kotlin      kt kts
Swift       swift       swift
Scala       scala       scala sc
Shell       bash        sh bash bats
Lua         lua         lua
Vue         vue         vue
Svelte      vue         svelte
Astro       -           astro
Objective-C -           m mm
Dart        -           dart
Elixir      -           ex exs
Erlang      -           erl hrl
Haskell     -           hs
OCaml       -           ml mli
F#          -           fs fsx
Clojure     -           clj cljs cljc
Elm         -           elm
Julia       -           jl
R           -           r R
Perl        -           pl pm
Groovy      -           groovy
Zig         -           zig
Nim         -           nim
Crystal     -           cr
D           -           d
Solidity    -           sol
Fortran     -           f90 f95 f03
Assembly    -           s S asm
CUDA        -           cu cuh
GLSL        -           glsl vert frag
PowerShell  -           ps1 psm1
SQL         -           sql
HTML        -           html htm
CSS         -           css
Sass        -           scss sass
Less        -           less
HCL         -           tf hcl
Nix         -           nix
Protobuf    -           proto
GraphQL     -           graphql gql
"""
_BY_ENDING = {
    ending: Language(row[0], row[1].strip("-"))
    for row in (line.split() for line in _ROWS.split("\n") if line)
    for ending in row[2:]
}
# Beside a language of functions these are markup, and no share of the work that symbols are.
MARKUP_LANGUAGES = frozenset(["HTML", "CSS", "Sass", "Less"])


def detect_language(path: str) -> Language | None:
    """The language of a file, or None for data, prose and what has no ending."""
    _, dot, ending = path.rpartition(".")
    return _BY_ENDING.get(ending) if dot else None


def detect_header_language(paths: Iterable[str]) -> str:
    """Which language the `.h` files are written in: the one that most of the other files are."""
    others = (detect_language(path) for path in paths if not path.endswith(".h"))
    count = Counter(language.name for language in others if language)
    return max(("C", "C++", "Objective-C"), key=lambda name: count[name])


def compute_language_shares(
    files: Sequence[ListedFile], classifier: FileClassifier, least: int = 5
) -> tuple[tuple[str, int], ...]:
    """Languages by their share of the bytes that people wrote, in steps of five percent."""
    sizes: Counter[str] = Counter()
    header = detect_header_language(file.path for file in files)
    for file in files:
        language = detect_language(file.path)
        if language and classifier.classify(file.path) in (FileKind.SOURCE, FileKind.TEST):
            sizes[header if file.path.endswith(".h") else language.name] += file.size
    if any(name not in MARKUP_LANGUAGES for name in sizes):
        sizes = Counter(
            {name: size for name, size in sizes.items() if name not in MARKUP_LANGUAGES}
        )
    total = sum(sizes.values()) or 1
    found = ((name, 5 * round(20 * size / total)) for name, size in sizes.items())
    kept = [(name, share) for name, share in found if share >= least]
    return tuple(sorted(kept, key=lambda row: (-row[1], row[0])))
