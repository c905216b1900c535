"""The same files give the same bytes, whatever is different around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.repomap.build import MapContext, build_map_text
from cub.repomap.listing.file_listing import list_files
from cub.repomap.map_types import MapSettings
from cub.repomap.render.map_body import render_map_body
from cub.repomap.symbols.collect_facts import FactsCache
from cub.repomap.symbols.file_facts import ScanJob
from cub.repomap.symbols.scan import scan_file
from cub.repomap.workers import MIN_FORK_FILES
from tests.conftest import Cub, git
from tests.repomap.archives import Archive, archives, unpacked, write, written
from tests.repomap.maps import collect, surveyed, whole_map

ARCHIVES = archives()
ODD = ["ünïcode/naïve.py", "new\nline.py", 'quo"te/a b.ts', "# heading.go", "@AGENTS.md/x.rs"]
SURROUNDINGS: dict[str, dict[str, str]] = {
    "seed 0": {"PYTHONHASHSEED": "0", "LC_ALL": "C"},
    "seed 1": {"PYTHONHASHSEED": "1", "LC_ALL": "POSIX", "TZ": "Pacific/Kiritimati"},
    "seed 2": {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "PYTHONOPTIMIZE": "1"},
    "ascii": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
}


def mixture() -> dict[str, bytes]:
    """Projects of every kind in one repository, and files with odd names."""
    files = {
        f"{archive.name}/{path}": text.encode()
        for archive in ARCHIVES
        for path, text in archive.files.items()
    }
    odd = {path: f"def odd_{number}(): pass\n".encode() for number, path in enumerate(ODD)}
    return {**files, **odd, "README.md": b"# Many\n\nMany small projects in one place.\n"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.thorough) if name in ("seed 0", "seed 2") else name
        for name in SURROUNDINGS
    ],
)
def test_seeds_locales_time_zones_and_optimizing_change_no_byte(
    name: str, project: Path, cub_interpreter: Cub
) -> None:
    written(mixture(), project)
    git(project, "add", "--all", ":!.cub")
    expected = whole_map(project)
    (project / ".cub/cache/facts.jsonl").unlink()  # the next one scans anew
    (project / ".cub/cache/map.json").unlink()
    found = cub_interpreter("map", "--stdout", **SURROUNDINGS[name])
    assert (found.code, found.out) == (0, expected)


def test_neither_place_nor_time_nor_the_order_of_files_matters(tmp_path: Path) -> None:
    files = mixture()
    here = written(files, tmp_path / "here")
    there = written(dict(reversed(files.items())), tmp_path / "elsewhere/deep/down", time=77_777)
    assert whole_map(here) == whole_map(there)


def test_a_checkout_and_a_plain_folder_give_the_same(project: Path, tmp_path: Path) -> None:
    plain = written(mixture(), tmp_path / "plain")
    written(mixture(), project)
    git(project, "add", "--all", ":!.cub")
    assert whole_map(project) == whole_map(plain)


def test_caches_change_nothing(tmp_path: Path) -> None:
    root = written(mixture(), tmp_path / "project")
    cold = whole_map(root)
    assert whole_map(root) == cold
    (root / ".cub/cache/map.json").unlink()
    assert whole_map(root) == cold
    write(root / "README.md", b"# Many\n\nOther words.\n")
    changed = whole_map(root)
    assert changed != cold
    write(root / "README.md", mixture()["README.md"], time=99_999)
    assert whole_map(root) == cold


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_line_ends_change_nothing(archive: Archive, tmp_path: Path) -> None:
    """But the shares of languages, which are of bytes, where they are near another step."""
    crlf = {path: text.replace("\n", "\r\n") for path, text in archive.files.items()}
    unix = unpacked(archive, tmp_path / "lf")
    windows = unpacked(archive._replace(files=crlf), tmp_path / "crlf")
    assert _without_shares(whole_map(windows)) == _without_shares(whole_map(unix))


def _without_shares(text: str) -> list[str]:
    return [line for line in text.split("\n")[3:] if not line.startswith("languages: ")]


@pytest.mark.thorough
def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    sources = [text for path, text in sorted(mixture().items()) if path.endswith(".py")]
    body = b"\n".join(sources) * 2
    files = {f"part{number}.py": b"def part_%d(): ...\n" % number + body for number in range(250)}
    root = written(files, tmp_path / "project")
    found = list_files(root)
    wanted = [ScanJob(file, "python", True) for file in found.files]
    assert sum(file.size for file in found.files) > 3_000_000  # enough for three processes
    told: list[tuple[int, int]] = []
    cache = FactsCache(tmp_path / "facts", "v")
    facts = collect(root, wanted, cache, lambda done, total, _: told.append((done, total)))
    assert list(facts) == [file.path for file in found.files]
    alone = {job.file.path: scan_file(str(root), job) for job in wanted[::20]}
    assert {path: facts[path] for path in alone} == alone
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


@pytest.mark.parametrize("size", [0, 200_000], ids=["little to scan", "much to scan"])
def test_two_processes_make_the_map_that_one_makes(tmp_path: Path, size: int) -> None:
    long = {"z.py": b"# So it goes on.\n" * (size // 17)}
    many = {f"data/{number}.txt": b"" for number in range(MIN_FORK_FILES)}
    root = written({**mixture(), **many, **long}, tmp_path / "a")
    alone = surveyed(list_files(root), FactsCache(tmp_path / "facts", "v"))
    made = build_map_text(MapContext(root, tmp_path / "cache"), MapSettings(3000), 40)
    assert made.text == render_map_body(alone, 3000, 40)
