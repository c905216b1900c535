from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from cub.context.bootstraps import Bootstrap, find_bootstraps, run_bootstraps
from cub.context.context_commands import CommandEnvironment
from cub.context.rules import RuleSearch
from cub.context.text_reader import TextReader
from tests.context.places import make_reader


def find(reader: TextReader) -> tuple[list[Bootstrap], list[str]]:
    search = RuleSearch(reader)
    search.find_all()
    found, warnings = find_bootstraps(search.rules, reader)
    return found, [f"{warning.path}: {warning.message}" for warning in warnings]


def allow(reader: TextReader, *names: str) -> None:
    for name in names:
        path = reader.root / name
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(reader: TextReader, *bootstraps: Bootstrap) -> list[tuple[str, str]]:
    environment = CommandEnvironment(reader.start, os.environ)
    return [(run.text, run.problem) for run in run_bootstraps(bootstraps, environment)]


def test_a_script_beside_a_rule(tmp_path: Path) -> None:
    files = {".agents/rules/a.md": "A", ".agents/rules/a-bootstrap": "#!/bin/sh\necho $PWD; cat\n",
             ".agents/rules/lonely-bootstrap": "#!/bin/sh\n"}  # fmt: skip
    reader = make_reader(tmp_path, {f"proj/{name}": text for name, text in files.items()})
    allow(reader, *list(files)[1:])
    (found,), warnings = find(reader)
    assert (found.name, found.is_project, warnings) == (".agents/rules/a-bootstrap", True, [])
    assert run(reader, found) == [(str(reader.start), "")]


def test_the_field_goes_before_the_file(tmp_path: Path) -> None:
    text = "---\nbootstrap: |\n  #!/bin/sh\n  echo FIELD; exit 3\n---\nA"
    reader = make_reader(tmp_path, {"proj/.agents/rules/a.md": text,
                                    "proj/.agents/rules/a-bootstrap": "#!/bin/sh\n"})  # fmt: skip
    (found,), warnings = find(reader)
    assert (found.name, found.path, warnings) == (".agents/rules/a.md (bootstrap)", None, [])
    assert run(reader, found) == [("FIELD", "exited with code 3")]


@pytest.mark.parametrize(
    ("attack", "folder"),
    [
        ("echo 'echo EVIL' > .agents/rules/b-bootstrap", ".agents/rules"),
        ("ln -sf evil.sh .agents/rules/b-bootstrap", ".agents/rules"),
        ("ln -sfn evil.sh .agents/rules/b-bootstrap; rm .agents/rules/evil.sh", ".agents/rules"),
        ("mv .agents/rules x; mkdir -p .agents/rules", ".agents/rules"),
        ("rm -r .agents", tempfile.gettempdir()),
    ],
)
@pytest.mark.parametrize("is_link", [False, True])
def test_what_was_read_runs_whatever_an_earlier_one_does(
    tmp_path: Path, attack: str, folder: str, *, is_link: bool
) -> None:
    rules = "proj/.agents/rules"
    reader = make_reader(tmp_path, {
        f"{rules}/a.md": "A", f"{rules}/a-bootstrap": f"#!/bin/sh\n{attack}\n",
        f"{rules}/b.md": "B", f"{rules}/evil.sh": "#!/bin/sh\necho EVIL\n",
        f"{rules}/good.sh": '#!/bin/sh\necho GOOD "$(dirname "$0")"\n',
    })  # fmt: skip
    beside = reader.root / ".agents/rules"
    if is_link:
        (beside / "b-bootstrap").symlink_to("good.sh")
    else:
        (beside / "b-bootstrap").write_bytes((beside / "good.sh").read_bytes())
    allow(reader, *(f".agents/rules/{name}" for name in ("a-bootstrap", "b-bootstrap", "good.sh")))
    found, _ = find(reader)
    text, problem = run(reader, *found)[1]
    assert (text, problem) == (f"GOOD {reader.root / folder}", "")
    assert not [*tmp_path.rglob("*.tmp")]


def test_a_script_finds_what_is_beside_it_and_around_it(tmp_path: Path) -> None:
    script = """#!/usr/bin/env bash
. "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lib.sh"
cat "$(dirname "$0")/../../version"; touch "$(dirname "$0")/../../made"; pwd
"""
    reader = make_reader(tmp_path, {
        "proj/.agents/rules/a.md": "A", "proj/.agents/rules/a-bootstrap": script,
        "proj/.agents/rules/lib.sh": "echo LIB", "proj/version": "1.2\n",
    })  # fmt: skip
    allow(reader, ".agents/rules/a-bootstrap")
    assert run(reader, *find(reader)[0]) == [(f"LIB\n1.2\n{reader.start}", "")]
    assert (reader.root / "made").exists()


def test_a_copy_of_a_killed_call_is_removed(tmp_path: Path) -> None:
    files = {"a.md": "A", "a-bootstrap": "#!/bin/sh\n", ".a-bootstrap.cub-12345678.tmp": "old",
             ".a-bootstrap.cub-abcdefgh.tmp": "in use"}  # fmt: skip
    reader = make_reader(tmp_path, {f"proj/.agents/rules/{name}": t for name, t in files.items()})
    allow(reader, ".agents/rules/a-bootstrap")
    os.utime(reader.root / ".agents/rules/.a-bootstrap.cub-12345678.tmp", (0, 0))
    assert run(reader, *find(reader)[0]) == [("", "")]
    left = [path.name for path in (reader.root / ".agents/rules").glob(".*")]
    assert left == [".a-bootstrap.cub-abcdefgh.tmp"]


def test_a_file_that_is_not_executable_is_not_run(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A", "proj/AGENTS-bootstrap": "#!/bin/sh\n"})
    mode = (reader.root / "AGENTS-bootstrap").stat().st_mode
    assert find(reader) == ([], ["AGENTS-bootstrap: this bootstrap is not executable"])
    assert (reader.root / "AGENTS-bootstrap").stat().st_mode == mode


def test_a_script_that_cannot_start_is_a_problem(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A", "proj/AGENTS-bootstrap": "echo hi\n"})
    allow(reader, "AGENTS-bootstrap")
    ((text, problem),) = run(reader, *find(reader)[0])
    assert (text, problem) == ("", "could not be started: exec format error")


def test_links_out_and_pipes_are_not_run(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A", "proj/GEMINI.md": "G", "up/evil": "x"})
    (reader.root / "AGENTS-bootstrap").symlink_to(tmp_path / "up/evil")
    os.mkfifo(reader.root / "GEMINI-bootstrap")
    found, warnings = find(reader)
    assert found == []
    assert warnings == [
        "AGENTS-bootstrap: this leads out of the project; it is not run",
        "GEMINI-bootstrap: this is not a regular file; it is not run",
    ]


def test_the_users_own_scripts_need_no_trust(tmp_path: Path) -> None:
    files = {"home/.agents/rules/a.md": "A", "home/.agents/rules/a-bootstrap": "#!/bin/sh\n"}
    reader = make_reader(tmp_path, files)
    (tmp_path / "home/.agents/rules/a-bootstrap").chmod(0o755)
    (found,), _ = find(reader)
    assert not found.is_project
