"""Tell source files from those that only use or surround the source, by their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum


class FileKind(StrEnum):
    """Name the part of a file: `TEST` and `DOCS` (also examples and benchmarks) use the source."""

    SOURCE = "source"
    TEST = "test"
    DOCS = "docs"
    VENDORED = "vendored"
    GENERATED = "generated"


FOREIGN_KINDS = (FileKind.VENDORED, FileKind.GENERATED)

_TEST_FOLDER = re.compile(
    r"(?:.*[-_.])?(?:tests?|specs?|__tests?_.*|e2e|testdata|testsuite|(?:__)?fixtures?(?:__)?"
    r"|(?:__)?mocks?(?:__)?|__snapshots__|testutils?|test[-_].*|unittests?)"
)
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_tests?|conftest)\.py|.*_test\.\w+|.*[-_.](?:test|spec|cy|stories)\.[cm]?[jt]sx?"
    r"|.*_spec\.\w+|(?:.*_)?tests\.rs"
    r"|(?:test[-_.].*|.*[-_]test)\.(?:[cm]?[jt]sx?|cc?|cpp|rb|lua|sh)|.*\.(?:bats|t)"
)
_GRADLE_TEST_FOLDER = re.compile(r"[a-z]\w*Tests?")  # `jvmTest`, `commonTest`
# Case matters: `Latest.java` and `contest.kt` are not tests.
_TEST_CLASS = re.compile(
    r".*(?:Tests?|Specs?|TestCase|IT|Suite)\.(?:java|kt|kts|scala|cs|swift|php)"
)
_PYTHON_TEST = re.compile(r"(?:test_.*|.*_tests?|tests?|conftest)\.py")
_DOCS_FOLDER = re.compile(
    r"\..+|docs?(?:[-_]src)?|documentation|examples?|samples?|demos?|playgrounds?|tutorials?"
    r"|bench(?:es|marks?|marking)?|_examples|website|site"
)
_VENDORED_FOLDER = re.compile(
    r"(?:.*[-_])?vendor(?:ed|s)?|node_modules|bower_components|third[-_]?party|3rdparty|pods"
    r"|carthage|site-packages|externals?|extern|deps|\.yarn|godeps|submodules"
)
_VENDORED_FILE = re.compile(
    r"(?:jquery|bootstrap|angular|react|vue|d3|lodash|underscore|moment|modernizr|htmx)"
    r"(?:[-.][\w.]*)?\.js|gradlew|mvnw|configure|ltmain\.sh|config\.(?:guess|sub)"
)
_GENERATED = re.compile(
    r".*[-._]min\.(?:js|css|mjs)|.*[-.](?:bundle|chunk)\.[cm]?js|.*_pb2(?:_grpc)?\.pyi?"
    r"|.*\.pb(?:\.gw)?\.\w+|.*[._](?:generated|g|gen|designer)\.\w+|zz_generated.*|.*\.lock"
    r"|package-lock\.json|pnpm-lock\.yaml|go\.sum|.*\.(?:map|snap)|moc_.*|ui_.*\.h|.*_string\.go"
)
_GENERATED_FOLDER = re.compile(
    r"dist|__generated__|generated|\.next|_build|target|storybook-static"
)
# Names of packages can be any words, such as `org.example.target`; only `generated` means it.
_PACKAGE = re.compile(
    r"(?:.*/)?src/\w+/(?:java|kotlin|scala|groovy)(?:-[\w.]+)?/.+(?<!/generated)"
    r"|(?:.*/)?(?:com|org|net)/example"
)
_MIGRATION = re.compile(r"(?:.*/)?migrations/\d{4}_\w+\.py")


class FileClassifier:
    """Classify the files of one project; what a Python folder contains decides for that folder."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._folders_with_tests: set[str] = set()
        self._folders: dict[str, FileKind] = {"": FileKind.SOURCE}
        self._files: dict[str, FileKind] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            if name.endswith(".py") and _PYTHON_TEST.fullmatch(name):
                while folder not in self._folders_with_tests:
                    self._folders_with_tests.add(folder)
                    folder = folder.rpartition("/")[0]

    def classify(self, path: str) -> FileKind:
        """Return the kind of the file at `path`."""
        kind = self._files.get(path)
        if kind is None:
            kind = self._files[path] = self._classify_file(path)
        return kind

    def classify_folder_of(self, path: str) -> FileKind:
        """Return the kind of the files in the folder of `path`, whatever its own name is."""
        return self._classify_folder(path.rpartition("/")[0])

    def _classify_file(self, path: str) -> FileKind:
        folder, _, name = path.rpartition("/")
        kind = self._classify_folder(folder)
        if kind in FOREIGN_KINDS:
            return kind
        low = name.lower()
        if _GENERATED.fullmatch(low) or _MIGRATION.fullmatch(path):
            return FileKind.GENERATED
        if _VENDORED_FILE.fullmatch(low):
            return FileKind.VENDORED
        if kind is FileKind.TEST and low.endswith(".py") and not self._has_tests(folder):
            return FileKind.SOURCE  # a package that helps others to test, such as django.test
        if kind is FileKind.SOURCE and (_TEST_FILE.fullmatch(low) or _TEST_CLASS.fullmatch(name)):
            return FileKind.TEST
        return kind

    def _classify_folder(self, folder: str) -> FileKind:
        """Don't recurse: paths may be thousands of folders deep."""
        missing = []
        while folder not in self._folders:
            missing.append(folder)
            folder = folder.rpartition("/")[0]
        kind = self._folders[folder]
        for path in reversed(missing):
            if not _PACKAGE.fullmatch(path):
                kind = _classify_folder_name(kind, path.rpartition("/")[2])
            self._folders[path] = kind
        return kind

    def _has_tests(self, folder: str) -> bool:
        """Return whether the folder that is named like tests, here or above, has any."""
        parts = folder.split("/")
        for count, name in enumerate(parts, 1):
            if _TEST_FOLDER.fullmatch(name.lower()):
                return "/".join(parts[:count]) in self._folders_with_tests
        return False


def _classify_folder_name(above: FileKind, name: str) -> FileKind:
    if above in FOREIGN_KINDS:
        return above
    low = name.lower()
    if _VENDORED_FOLDER.fullmatch(low):
        return FileKind.VENDORED
    if _GENERATED_FOLDER.fullmatch(low):
        return FileKind.GENERATED
    if above is not FileKind.SOURCE:
        return above
    if _TEST_FOLDER.fullmatch(low) or _GRADLE_TEST_FOLDER.fullmatch(name):
        return FileKind.TEST
    return FileKind.DOCS if _DOCS_FOLDER.fullmatch(low) else FileKind.SOURCE
