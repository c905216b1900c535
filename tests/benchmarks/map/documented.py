"""The names that a repository's own documentation documents, the most documented first.

A name counts where it stands as code: in a Sphinx directive or role, in inline code, or in a
heading that is code. A plain lower-case word counts only where something more says that a
definition is meant: a directive, a role, a call, or the dotted name of what it belongs to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from tests.benchmarks.map.patterns import WORDS

_DIRECTIVE = re.compile(
    r"^[ \t]*\.\. +(?:[a-z]+:)?(?:auto)?(?:class|function|method|classmethod|staticmethod|attribute"
    r"|data|exception|decorator|property|struct|macro|type|enum|member|var|module|interface|trait"
    r"|func|currentmodule)(?:method|function)?:: *(?P<text>[^\n]+)",
    re.MULTILINE,
)
_ROLE = re.compile(
    r":(?:[a-z]+:)?(?:class|func|meth|attr|data|exc|obj|mod|const|macro|type|struct|deco|ref|any)"
    r":`(?:[^`<]*<)?[~!.]*(?P<text>[^`>]+)>?`"
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(
    r"(?<![`\\:])(`{1,3})(?!`)(?P<text>[^`\n]{3,90}?)\1(?!`)(?!__?)|\+(?P<plus>[\w.:#()]{3,60})\+"
)
_HEADING = re.compile(
    r"^(?:#{1,6}|=={1,5}) +(?P<text>[^\n`]+?) *#*$|^(?P<under>\S+)\n[=\-~^\"'+*]{3,}$", re.MULTILINE
)
_CHAIN = re.compile(
    r"(?:new |class |func |fn |def |function |struct |type |interface |fun |[@&*#$!.:<]|::)*"
    r"(?P<chain>[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|\\|\.prototype\.|/)[A-Za-z_$][\w$]*)*)"
    r"(?P<rest>\(.*\)|!?\(?\)?|<.*>|\[.*\]|\{\}|[;:,*?>]+)*"
)
_USED = re.compile(r"(?P<name>[A-Za-z_$][\w$]*)(?P<call>!?\()?")
_FILE = re.compile(
    r"\.(py|[jt]sx?|mjs|cjs|json|md|rst|txt|ya?ml|toml|html?|css|go|rs|c|h|sh|rb|php|java|kt|lock|cfg|ini|xml|vue|mod)$"
)
_SPLIT = re.compile(r"\.|::|#|->|\\|/")
_PLAIN = re.compile(r"[a-z]+")


def documented(
    texts: Iterable[str], names: Collection[str], *, examples: bool = False
) -> list[str]:
    """Those of `names` that are documented, by the number of files, then of occurrences."""
    files: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for text in texts:
        said = [*mentions(text), *(in_examples(text) if examples else ())]
        found = Counter(name for name in said if name in names)
        total += found
        files.update(found.keys())
    return sorted(total, key=lambda name: (-files[name], -total[name], name))


def mentions(text: str) -> Iterator[str]:
    """Each name that a text of the documentation gives as code."""
    for match in _DIRECTIVE.finditer(text):
        yield from _names(match["text"].split("(")[0].strip(), sure=True)
    for match in _ROLE.finditer(text):
        yield from _names(match["text"].strip(), sure=True)
    prose = _FENCE.sub("\n", text)
    for match in _CODE.finditer(prose):
        yield from _names((match["text"] or match["plus"]).strip(), sure=False)
    for match in _HEADING.finditer(prose):
        heading = (match["text"] or match["under"]).strip()
        if "(" in heading or "." in heading or not heading.isalpha() or not heading.istitle():
            yield from _names(heading, sure=False)


def in_examples(text: str) -> Iterator[str]:
    """Each name that the examples of a text use; a plain word only where it is called."""
    for block in _FENCE.finditer(text):
        for match in _USED.finditer(block[0]):
            name = match["name"]
            if (
                len(name) >= 3
                and name not in WORDS
                and (match["call"] or not _PLAIN.fullmatch(name))
            ):
                yield name


def _names(code: str, *, sure: bool) -> Iterator[str]:
    match = _CHAIN.fullmatch(code)
    if match is None:
        return
    chain = match["chain"]
    if ("/" in chain and not sure) or (_FILE.search(chain) and "(" not in code):
        return
    parts = _SPLIT.split(chain)
    sure = sure or "(" in code
    for place, part in enumerate(parts):
        if len(part) < 3 or part in WORDS:
            continue
        last = place == len(parts) - 1
        if _PLAIN.fullmatch(part) and not (last and (sure or place > 0)):
            continue
        yield part
