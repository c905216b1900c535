"""Count words that plain technical English avoids, in all that a person reads.

`python -m tests.docs.words` prints each with its place and what to write instead, and lowers the
ceilings in word_ceilings.json; `python -m tests.docs.words FILE…` prints those of some files.
The help of all commands is counted in docs/reference/cli.md, which is generated from it.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
CEILINGS = Path(__file__).with_name("word_ceilings.json")

# A pattern of words that are avoided, and what to write instead.
BANNED = (
    (r"stands?|stood", "is, appears, status"),
    (r"begins?|began|begun|beginning", "start, started"),
    (r"tells?|told|telling", "report, print, say, describe"),
    (r"(?<!look-)behind", "after, following"),
    (r"folders?", "directory"),
    (r"of (cub|git|Claude|Codex)'s(?! \w+ \w+s\b)|of (yours|theirs|ours|his|hers)", "cub's X"),
    (r"(put|give|gave|given|put)s?( \w+){0,2} back|giving back|putting back", "restore, release"),
    (r"nobody|somebody|anybody|everybody|persons?|a person's", "you, another process"),
    (r"(?<!there )(?:is|are|was|were) no(?! longer)", "is not a …, aren't …"),
    (r"whose", "which owner, that belongs to"),
    (r"(?:line|file|last) ends?|ends? of lines?", "line ending, trailing newline"),
    (r"anew", "again"),
    (r"blanks|blank(?! lines?| page)", "whitespace, space"),
    (r"a text(?! file)|list of texts", "a string"),
    (r"whoever|who (?:wants|reads|has|have|is)", "if you …, anyone who …"),
    (r"work[ -]trees?", "working tree, worktree"),
    (r"by (?:itself|themselves)", "automatically, on its own"),
    (r"in (?:the )?place of", "instead of"),
    (r"at work", "running, in use"),
    (r"along(?! with)", "include, contain, ship with"),
    (r"what (?:becomes?|became) of", "what happens to"),
    (r"mend(?:s|ed|ing)?", "fix, repair"),
    (r"rights", "permissions"),
    (r"meanwhile", "in the meantime, during the attempt"),
    (r"as far as", "if, where, unless"),
    (r"work(?:s|ed|ing)?(?: \w+)? off", "work through, run"),
    (r"lapse[sd]?", "expired"),
    (r"doubled", "duplicate, duplicated"),
    (r"but for", "except, except for"),
    (r"all the same", "anyway, still"),
    (r"what is left|is left of", "the rest, remaining"),
    (r"elder|younger", "older, newer"),
    (r"belongs? into", "belongs in, goes in"),
    (r"replaced? by", "replace with"),
    (r"be had", "is available, is installed"),
    (r"clients?(?! protocol)", "agent"),
    (r"(?<![-./])harness(?:es)?(?![-./:=])", "agent"),
    (r"draws?|drawn|drew|renew(?:s|ed|ing)?", "generate, update"),
    (r"circles?", "cycle"),
    (r"whole numbers?|a flag", "integer, boolean"),
    (r"charge[sd]?", "count, counted as an attempt"),
    (r"agree[sd]? to", "trust, approve"),
    (r"by hand|the hand's", "manually, manual edits"),
    (r"git does not know|git doesn't know", "untracked"),
    (r"what executes", "executable configuration"),
    (r"seen from", "relative to"),
    (r"the machine's fault", "an environment problem"),
    (r"for once|this once", "for this run only"),
    (r"a slip|slips", "a mistake, unintentional"),
    (r"digest (?:does not|doesn't) fit", "does not match"),
    (r"shall", "should, will"),
    (r"looks? whether|looked whether", "check whether"),
    (r"the dearest", "the slowest, the most expensive"),
    (r"likewise", "also"),
    (r"(?<=, )too(?=[.,;:)]|$)", "also"),
    (r"such a one|of which", "one word for the thing"),
    (r"behaviou?r of cub's|colou?rs? of cub's", "cub's …"),
    (r"(?:behavi|neighb|col|fav)our\w*|recognis\w+|organis\w+|licen[c]e|centre", "US spelling"),
    (r"so that(?=(?:(?!\n\s*\n).)*\bso that\b)", "so; a new sentence"),
)
_ALTERNATIVES = "|".join(f"(?P<w{number}>{words})" for number, (words, _) in enumerate(BANNED))
# A word starts with a letter: other places need not be tried.
_WORDS = re.compile(rf"\b(?=[a-z])(?:{_ALTERNATIVES})(?!\w)", re.IGNORECASE | re.DOTALL)
# What a page quotes is counted where it comes from, and a name is no word.
_CODE = re.compile(
    r"^(`{3,}|~{3,}).*?^\1|`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]*>", re.DOTALL | re.MULTILINE
)
_TEMPLATE_CODE = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.DOTALL)
_PATTERN = re.compile(r"\\[bdswS(.\[|]|\(\?|\.\*|\[\^")  # a regular expression is for no reader
_JSON_VALUES = frozenset({"at work"})  # what programs may compare stays as it is


class Finding(NamedTuple):
    """A word with its place, relative to the repository, and what to write instead."""

    path: str
    line: int
    word: str
    instead: str


def find_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and replacement for each word of the list, outside of quoted code."""
    blanked = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for match in _WORDS.finditer(blanked):
        if match[0] == "BEGIN":  # a marker
            continue
        number = int((match.lastgroup or "w0")[1:])
        yield text.count("\n", 0, match.start()) + 1, match[0], BANNED[number][1]


def list_literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the literals of a module that hold words, without docstrings."""
    tree = ast.parse(source)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            inner.add(id(node.body[0].value))  # type: ignore[attr-defined]
        elif isinstance(node, ast.JoinedStr):
            inner.update(map(id, node.values))
            yield node.lineno, "".join(map(_get_text, node.values))
        elif isinstance(node, ast.Constant) and id(node) not in inner:
            yield node.lineno, _get_text(node)


def _get_text(node: ast.expr) -> str:
    """Return the text of a literal or a part of one; what is filled in counts as a name."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "X"


def list_findings(path: Path) -> list[Finding]:
    """Return all words of the list in a page, a template, or the literals of a module."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        if "templates" in name:
            text = _TEMPLATE_CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
        return [Finding(name, *found) for found in find_words(text)]
    return [
        Finding(name, line, word, instead)
        for line, literal in list_literals(text)
        if " " in literal.strip() and literal not in _JSON_VALUES and not _PATTERN.search(literal)
        for _, word, instead in find_words(literal)
    ]


def list_files() -> list[Path]:
    """Return all files that hold words for people: pages, templates, and the package."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests/README.md"]
    templates = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    modules = (ROOT / "cub").rglob("*.py")
    return sorted(path for path in (*pages, *templates, *modules) if path.is_file())


def count_words() -> dict[str, int]:
    """Return the number of words of the list by file, for files that have any."""
    counts = {path.relative_to(ROOT).as_posix(): len(list_findings(path)) for path in list_files()}
    return {name: count for name, count in counts.items() if count}


def read_ceilings() -> dict[str, int]:
    """Return how many words of the list each file may have; 0 for those that are not named."""
    ceilings: dict[str, int] = json.loads(CEILINGS.read_text(encoding="utf-8"))
    return ceilings


def main(names: list[str]) -> None:
    """Print the words of some files, or lower all ceilings to what there is."""
    for path in [Path(name).resolve() for name in names] or list_files():
        for found in list_findings(path):
            sys.stdout.write(f"{found.path}:{found.line}: {found.word!r}: {found.instead}\n")
    if not names:
        before, counts = read_ceilings(), count_words()
        ceilings = {name: min(counts[name], before.get(name, 0)) for name in counts}
        kept = {name: count for name, count in ceilings.items() if count}
        CEILINGS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
