"""Which files of a repository are source, tests or documentation.

A judgement of the benchmark's own: what is measured must not decide what counts.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["source", "test", "docs", "other"]

LANGUAGES = {
    "python": "py",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx hpp hh hxx",
    "csharp": "cs",
    "ruby": "rb",
    "php": "php",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala",
    "bash": "sh bash",
    "lua": "lua",
}
_LANGUAGE = {f".{end}": name for name, ends in LANGUAGES.items() for end in ends.split()}
_DOCS = frozenset({".md", ".rst", ".txt", ".adoc", ".mdx"})
_DOCS_FOLDERS = frozenset({"doc", "docs", "documentation", "website", "site", "guide", "manual"})
_HISTORY = re.compile(
    r"(^|/)(releases?|whatsnew|change(s|log)|history|news)(/|[^/]*$)|upgrad|migrat|release.?notes",
    re.IGNORECASE,
)
_COMMUNITY = re.compile(
    r"(contribut|code.of.conduct|security|licen[cs]e|copying|authors|governance|agents|claude|todo"
    r"|support|maintain|publish|funding|backers|thanks|gemini)",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(^|/)(tests|testdata|testing_data|__tests__|specs?|e2e|fixtures?|testcases|playground"
    r"|examples?|samples?|demos?|bench(es|marks?)?|\w+[-_.]tests?|\w+Tests?)/"
    r"|(^|/)(test_[^/]*|conftest|[^/]*[_.-](test|spec)s?|[^/]*(Test|Tests|Spec))\.\w+$"
)
_OTHER = re.compile(
    r"(^|/)(vendor|node_modules|third[_-]?party|deps|_vendor|extern(al)?|dist|(?<!doc/)(?<!docs/)build|\.[^/]+)/"
    r"|\.min\.|[._](generated|pb)\.|_pb2\.py$|\.d\.ts\.map$"
)


def language(path: str) -> str:
    """The programming language that a file's name says, or nothing."""
    return _LANGUAGE.get(PurePosixPath(path).suffix.lower(), "")


def kind(path: str) -> Kind:
    """What a file of a repository is there for."""
    if _OTHER.search(path):
        return "other"
    if _is_docs(path):
        return "docs"
    if not language(path) or set(PurePosixPath(path.lower()).parts[:-1]) & _DOCS_FOLDERS:
        return "other"
    return "test" if _is_test(path) else "source"


def _is_docs(path: str) -> bool:
    """READMEs anywhere, and what lies in a documentation folder; but not what tells of the past."""
    file = PurePosixPath(path)
    if file.suffix.lower() not in _DOCS or _HISTORY.search(path) or _TESTS.search(path):
        return False
    if len(file.parts) == 1 and file.suffix.lower() == ".txt":
        return False
    guide = len(file.parts) == 1 and not _COMMUNITY.match(file.name)
    return (
        guide
        or file.name.lower().startswith("readme")
        or bool(set(PurePosixPath(path.lower()).parts[:-1]) & _DOCS_FOLDERS)
    )


def _is_test(path: str) -> bool:
    if _TESTS.search(path):
        return True
    folders = PurePosixPath(path).parts[:-1]
    package = path.endswith(".py")  # `django/test/` is a package for those who test with it
    return "test" in (folders[:1] if package else folders)
