from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import Cub, git, tree

TEXT = "# Bäckerei\r\n\r\nÜber 🥖.\r\n".encode()
SURROUNDINGS = {
    "LC_ALL=C, hash 0": {"LC_ALL": "C", "PYTHONHASHSEED": "0"},
    "C, and no way out, hash 1": {
        "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONHASHSEED": "1",
    },
    "LANG unknown, hash 4242": {
        "LANG": "xx_YY.UTF-8", "LC_ALL": "xx_YY.UTF-8", "PYTHONHASHSEED": "4242",
    },
    "ASCII streams": {"PYTHONIOENCODING": "ascii"},
    "Latin 1 streams": {"PYTHONIOENCODING": "latin-1:strict"},
    "Kiritimati": {"TZ": "Pacific/Kiritimati"},
    "Marquesas": {"TZ": "Pacific/Marquesas"},
    "narrow": {"COLUMNS": "20"},
    "no HOME": {"HOME": ""},
    "optimized": {"PYTHONOPTIMIZE": "2"},
    "many at once": {
        "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONHASHSEED": "7",
        "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error",
    },
}  # fmt: skip
# What a process reads at any time. All else an interpreter reads when it starts.
AT_ANY_TIME = ("Kiritimati", "Marquesas", "narrow", "no HOME")
FAST = (*AT_ANY_TIME, "many at once")


@pytest.fixture
def expected(project: Path, cub: Cub) -> tuple[dict[str, bytes], str]:
    """The files and the words that a plain run makes; the project is as before it."""
    (project / "AGENTS.md").write_bytes(TEXT)
    for number, word in enumerate(("café", "naïve", "ß", "日本", "I")):  # for the map
        code = f"class {word.title()}{number}\nend\n"
        (project / f"{word}.rb").write_text(code, encoding="utf-8")
        call = f"export function f{number}() {{}}\n/* {word} */ f{number}()\n"
        (project / f"{word}.ts").write_text(call, encoding="utf-8")
    before = tree(project)
    said = cub("init", "--diff").out
    cub("init")
    written = tree(project)
    cub("remove", "--purge", "--yes")
    assert tree(project) == before
    return written, said


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FAST else pytest.mark.thorough)
        for name in SURROUNDINGS
    ],
)
def test_the_same_bytes_come_out_everywhere(
    project: Path, cub: Cub, cub_interpreter: Cub, expected: tuple[dict[str, bytes], str], name: str
) -> None:
    env = SURROUNDINGS[name]
    call = cub if name in AT_ANY_TIME else cub_interpreter
    shown = call("init", "--diff", **env)
    assert shown.code == 0
    if "streams" not in name:
        # `cub_interpreter` translates line ends.
        assert shown.out.replace("\r\n", "\n") == expected[1].replace("\r\n", "\n")
    assert call("init", **env).code == 0
    assert tree(project) == expected[0]
    assert call("status", **env).code == call("update", "--check", **env).code == 0


AGENT = """run: {harness: mine}
harnesses:
  mine: {argv: [sh, -c, 'cat > /dev/null; echo x > é.py; echo x > "$(printf "a\\\\377")"']}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
@pytest.mark.parametrize("locale", ["C", pytest.param("POSIX", marks=pytest.mark.thorough)])
def test_a_run_commits_names_that_the_locale_has_not(
    project: Path, cub: Cub, cub_interpreter: Cub, locale: str
) -> None:
    cub("init")
    (project / ".cub/config.yaml").write_text(AGENT, "utf-8")
    (project / "ü.py").touch()
    for arguments in ("config user.name t", "config user.email t@t", "add -A", "commit -qm first"):
        git(project, *arguments.split())
    env = {"LC_ALL": locale, "PYTHONUTF8": "0"}
    assert cub_interpreter("task", "add", "Bake é", **env).code == 0
    done = cub_interpreter("run", "--once", "--trust", "--no-checks", **env)
    assert (done.code, "Bake é" in done.out) == (0, True), done.err
    names = git(project, "-c", "core.quotePath=true", "ls-files").splitlines()
    assert {'"\\303\\251.py"', '"\\303\\274.py"', '"a\\377"'} <= {*names}


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_names_that_are_no_text_do_not_matter(project: Path, cub: Cub) -> None:
    for folder in ("", ".cub", ".claude/skills"):
        (project / folder).mkdir(parents=True, exist_ok=True)
        name = os.fsencode(project / folder) + b"/caf\xe9 \n.md"
        Path(os.fsdecode(name)).write_bytes(b"x")
    for command in ("init", "update", "status", "init --json", "status --json", "remove"):
        result = cub(*command.split())
        assert (result.code, "Traceback" in result.err) == (0, False)
    assert cub("init").code == 0
    assert cub("remove", "--purge", "--yes").code == 0
    assert not (project / ".cub").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
@pytest.mark.parametrize("name", [b"caf\xe9", b"a\nb", b"a\tb", b"\x1b[31m"])
def test_a_folder_with_an_odd_name_is_refused(project: Path, cub: Cub, name: bytes) -> None:
    folder = Path(os.fsdecode(os.fsencode(project) + b"/" + name))
    folder.mkdir()
    result = cub("init", folder.name)
    assert (result.code, "this is not a printable name" in result.err) == (2, True)
    assert sorted(path.name for path in project.iterdir()) == sorted([".git", folder.name])


@pytest.mark.parametrize("text", [b"\0", b"a\0bc\n" * 50, b"\xff\x80\n", b"\x1b[31m\x07\x08\n"])
def test_bytes_that_are_no_text_stay(project: Path, cub: Cub, text: bytes) -> None:
    (project / "AGENTS.md").write_bytes(text)
    for command in ("init --diff", "init", "status", "update", "init"):
        assert cub(*command.split()).code == 0
    assert (project / "AGENTS.md").read_bytes().startswith(text)
    assert cub("remove").code == 0
    assert (project / "AGENTS.md").read_bytes() == text


def test_a_project_anywhere_in_the_file_system_works(tmp_path: Path, cub: Cub) -> None:
    folder = tmp_path / "with a blank" / "ünï" / ("x" * 100) / "'quoted' \"twice\" $HOME `id`"
    folder.mkdir(parents=True)
    assert cub("init", cwd=folder).code == 0
    assert cub("update", "--check", cwd=folder).code == 0
    assert cub("remove", "--purge", "--yes", cwd=folder).code == 0
    assert list(folder.iterdir()) == []
