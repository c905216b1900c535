"""Fixtures and options of all tests: an empty project, and cub in this process or its own."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest
from hypothesis import Phase, settings

from tests.command_line import Result, call_cub, run_program
from tests.fork_server import start_cub, stop_fork_server
from tests.forked import STOP_SIGNALS

# Failures say how to repeat them: `python -m tests` passes on the seed that it prints. What
# explains a failure runs the test hundreds of times more, and is rarely worth that.
settings.register_profile(
    "fast",
    max_examples=100,
    deadline=None,
    derandomize=False,
    print_blob=True,
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("thorough", settings.get_profile("fast"), max_examples=500, database=None)

TESTS = Path(__file__).parent
GOLDEN = TESTS.parent / "golden"


Cub = Callable[..., Result]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cub")
    group.addoption(
        "--thorough",
        action="store_true",
        help="run every test, and 500 examples of each property instead of 100",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "fast")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked thorough, unless the option asks for it, and real agents unless
    `-m agents` does.

    The modules beside this one have the longest tests. They come first: a worker that is left with
    one of them at the end would keep the others waiting.
    """
    items.sort(key=lambda item: item.path.parent != TESTS)
    left_out = set[str]() if config.getoption("--thorough") else {"thorough"}
    if "agents" not in config.getoption("markexpr"):
        left_out.add("agents")
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (others if any(map(item.get_closest_marker, left_out)) else chosen).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = chosen


def pytest_collection_finish() -> None:
    """Spare the garbage collector all that stays until the end: it is most of what there is."""
    gc.collect()
    gc.freeze()


def environment(home: Path) -> dict[str, str]:
    """An environment in which nothing of this machine or this person shows."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "LANG", "TMPDIR")}
    return {
        **kept,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "TZ": "UTC",
        "COLUMNS": "100",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }


@pytest.fixture(autouse=True, scope="session")
def _default_signals() -> None:
    """Give what tests start the default handling of signals, also below `nohup`.

    A child inherits that a signal is ignored, but not a handler. This process still survives the
    signal. A worker of pytest-xdist needs that as well, so it is not done before workers start.
    """
    for number in (getattr(signal, name) for name in STOP_SIGNALS if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture(autouse=True, scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests do in this very process leaves nothing in the person's own folders."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        here.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture
def original_datadir(request: pytest.FixtureRequest) -> Path:
    """Golden output of a test module lies in golden/<its package>/<its name>/."""
    return GOLDEN.joinpath(*request.path.relative_to(Path(__file__).parent).with_suffix("").parts)


@pytest.fixture(scope="session")
def empty_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository without a commit, to be copied."""
    root = tmp_path_factory.mktemp("empty")
    root.chmod(0o755)  # as mkdir makes it
    git(root, "init", "-q")
    for sample in (root / ".git" / "hooks").glob("*.sample"):
        sample.unlink()
    return root


@pytest.fixture
def project(tmp_path: Path, empty_repository: Path) -> Path:
    """An empty folder that is a git repository."""
    root = tmp_path / "project"
    shutil.copytree(empty_repository, root)
    return root.resolve()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home; what runs in this very process keeps its state there, too."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".local/state"))
    return folder


@pytest.fixture
def cub(project: Path, home: Path) -> Cub:
    """Run cub in this process, in `project` unless `cwd` says otherwise."""

    def call(*arguments: str, cwd: Path = project, stdin: str = "", **env: str) -> Result:
        return call_cub(arguments, cwd=cwd, environ={**environment(home), **env}, stdin=stdin)

    return call


@pytest.fixture(autouse=True, scope="session")
def _fork_server() -> Iterator[None]:
    yield
    stop_fork_server()


@pytest.fixture
def cub_process(project: Path, home: Path) -> Cub:
    """Run cub as a process of its own, for tests of streams, signals, exits and terminals."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")

    def run(*arguments: str, cwd: Path = project, stdin: str = "", **env: str) -> Result:
        with ExitStack() as stack:
            streams = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            streams[0].write(stdin.encode())
            streams[0].seek(0)
            process = start_cub(
                arguments,
                cwd=cwd,
                environ={**environment(home), **env},
                descriptors=(streams[0].fileno(), streams[1].fileno(), streams[2].fileno()),
            )
            code = process.wait()
            return Result(code, *map(_read_text, streams[1:]))

    return run


@pytest.fixture
def cub_interpreter(project: Path, home: Path) -> Cub:
    """Run `python -m cub`, for tests of its start, of encodings, and of another copy of cub."""

    def run(*arguments: str, cwd: Path = project, stdin: str = "", **env: str) -> Result:
        words = [sys.executable, "-m", "cub", *arguments]
        return run_program(words, cwd=cwd, environ={**environment(home), **env}, stdin=stdin)

    return run


def _read_text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "surrogateescape")


def git(root: Path, *arguments: str) -> str:
    """Run git with a person of its own."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def list_checkout(root: Path) -> list[str]:
    """The files of a checkout that are tracked, or new and not ignored."""
    listed = git(root, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    return [name for name in listed if name and os.path.lexists(root / name)]


def copy_checkout(root: Path, target: Path) -> None:
    """Copy what a commit of everything in a checkout would hold."""
    for name in list_checkout(root):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name, follow_symlinks=False)


def tree(root: Path) -> dict[str, bytes]:
    """Every file below `root` by its path, without .git."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }
