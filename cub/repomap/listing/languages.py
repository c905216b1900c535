"""Which language a file is written in, by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


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
MARKUP = frozenset(["HTML", "CSS", "Sass", "Less"])


def language_of(path: str) -> Language | None:
    """The language of a file, or None for data, prose and what has no ending."""
    _, dot, ending = path.rpartition(".")
    return _BY_ENDING.get(ending) if dot else None


def header_language(paths: Iterable[str]) -> str:
    """Which language the `.h` files are written in: the one that most of the other files are."""
    others = (language_of(path) for path in paths if not path.endswith(".h"))
    count = Counter(language.name for language in others if language)
    return max(("C", "C++", "Objective-C"), key=lambda name: count[name])
