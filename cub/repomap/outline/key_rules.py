"""Which single files a newcomer opens, told by their paths: one table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Rule(NamedTuple):
    """Files whose whole path fits; with `source`, only those that are no tests or examples."""

    what: str
    pattern: re.Pattern[str]
    most: int = 1
    source: bool = True


def _rule(what: str, pattern: str, most: int = 1, *, source: bool = True) -> Rule:
    return Rule(what, re.compile(pattern, re.IGNORECASE), most, source)


_TEXT = r"(?:\.(?:md|rst|txt|adoc|markdown))?"
ABOUT = (
    _rule("overview", rf"readme{_TEXT}"),
    _rule(
        "how to contribute", rf"(?:docs/|\.github/)?(?:contributing|hacking){_TEXT}", source=False
    ),
    _rule(
        "how to develop", rf"(?:docs?/)?(?:development|developing|developers?){_TEXT}", source=False
    ),
    _rule(
        "architecture",
        rf"(?:docs?/(?:[\w-]+/)?)?(?:architecture|design|overview){_TEXT}",
        2,
        source=False,
    ),
)
PARTS = (
    _rule("settings", r"(?!.*commands/)(?:[\w-]+/){0,3}settings(?:/(?:base|__init__))?\.py", 2),
    _rule(
        "routes",
        r"(?:[\w-]+/){0,2}(?:config/)?routes(?:\.(?:rb|[jt]s)|/web\.php)|(?:[\w-]+/)?urls\.py",
        2,
    ),
    _rule(
        "configuration",
        r"(?:src/main/resources/)?(?:application|appsettings)\.(?:ya?ml|properties|json)"
        r"|config/(?:application|config|default|runtime)\.\w+|config\.(?:ya?ml|toml|json)",
        2,
    ),
    _rule(
        "environment variables",
        r"\.env\.(?:example|sample|template|dist)|(?:env\.example|example\.env)",
    ),
    _rule("database schema", r"(?:[\w-]+/){0,3}(?:schema\.(?:prisma|sql|rb)|structure\.sql)", 2),
    _rule(
        "API definition",
        r"(?:[\w.-]+/){0,3}(?:(?:openapi|swagger)(?:[.-][\w.-]+)?\.(?:ya?ml|json)"
        r"|schema\.graphqls?)",
        2,
    ),
)
AROUND = (
    _rule(
        "CI",
        r"\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml|jenkinsfile|\.travis\.yml"
        r"|bitbucket-pipelines\.yml|\.drone\.yml|\.cirrus\.yml|appveyor\.yml|\.buildkite/pipeline\.ya?ml",
    ),
    _rule("containers", r"(?:docker-)?compose\.ya?ml|dockerfile", 2),
    _rule(
        "changes by version",
        rf"(?:docs/)?(?:changelog|changes|history|news|releases?){_TEXT}",
        source=False,
    ),
)


def any_of(rules: Sequence[Rule]) -> re.Pattern[str]:
    """One pattern of all: most paths fit none of them."""
    return re.compile("|".join(f"(?:{rule.pattern.pattern})" for rule in rules), re.IGNORECASE)
