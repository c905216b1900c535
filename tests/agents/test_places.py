"""Real agents work behind the walls of a place, and the person's checkout stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.agent_profiles.profiles import redirect_agent
from cub.agent_profiles.user_folders import prepare_user_folders
from cub.files.signed_state import find_project_state, find_state_folder
from cub.harness.base import Harness, LaunchRequest, Transcript
from cub.harness.harness_registry import KNOWN_HARNESSES, load_harnesses
from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_kind import try_kind
from cub.place.place_settings import MAILBOX, Base, PlaceSettings
from cub.place.walls import PlaceKind
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import run_and_capture_streams
from tests.agents.conftest import find_agent
from tests.conftest import git
from tests.model_server.faults import ModelServer, Reply
from tests.place.walled import KINDS

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(120)]
WALLS = [KINDS[means] for means in ("bwrap", "launcher", "landlock")]
NATIVE = [kind.facts.name for kind in KNOWN_HARNESSES]
OVER_ACP = ["claude", "codex", "gemini", "opencode"]
# It would do the person's checkout harm in four ways.
GIT = "git -c user.name=t -c user.email=t@t"
STEP = f"echo bread > new.txt; rm old.txt; git add -A; {GIT} commit -qm bread; git tag baked"
# aider has no tools: it edits what the model's text says.
EDIT = "new.txt\n```\n<<<<<<< SEARCH\n=======\nbread\n>>>>>>> REPLACE\n```\n"
SETTINGS = ("settings.json", "config.toml", "opencode.json", "models.json")


@pytest.mark.parametrize("permissions", ["auto", "bypass"])
@pytest.mark.parametrize("kind", WALLS, ids=lambda kind: kind.means)
@pytest.mark.parametrize("agent", [*NATIVE, *(f"acp:{name}" for name in OVER_ACP)])
def test_an_agent_works_inside(
    project: Path, home: Path, agent: str, kind: PlaceKind, permissions: str
) -> None:
    before = _make_checkout(project)
    name = (
        f"{agent[4:]}-acp" if agent in ("acp:claude", "acp:codex") else agent.removeprefix("acp:")
    )
    program_folder = find_agent(name)
    if program_folder is None:
        pytest.skip(f"{name} is not in CUB_AGENTS")
    if why := try_kind(kind, home):
        pytest.skip(why)
    (harness,) = load_harnesses([agent], {}, project, {}).harnesses
    replies = [Reply(EDIT)] if agent == "aider" else [Reply("I bake.", STEP), Reply("It is baked.")]
    with ModelServer(replies) as server:
        redirect = redirect_agent(name, server.url, home)
        settings = {path: path.read_bytes() for path in _list_settings(home)}
        path = f"{program_folder}{os.pathsep}{os.environ['PATH']}"
        environ = {**redirect.environ, "PATH": path, "IS_SANDBOX": "1", **harness.environ}
        place = _open_place(project, harness, environ, kind)
        transcript, exit_code, errors = _run(place, harness, environ, permissions)
    assert harness.is_success(transcript, exit_code), (transcript, errors)
    made = place.folder.tree
    assert (made / "new.txt").read_text() == "bread\n"
    # Codex's own sandbox protects the repository.
    is_guarded = agent.endswith("codex") and permissions == "auto" and kind.can_nest
    if agent != "aider" and not is_guarded:
        assert not (made / "old.txt").exists()
        assert git(made, "log", "-1", "--format=%s%d") == "bread (HEAD -> main, tag: baked)\n"
    assert _read_all(project) == before
    if kind.name == "bound":  # with Landlock, all of a writable directory is so
        assert {path: path.read_bytes() for path in settings} == settings
    place.close()


def _make_checkout(project: Path) -> dict[str, tuple[int, bytes]]:
    for name in ("a.txt", "old.txt"):
        (project / name).write_text(f"{name}\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    (project / "mine.txt").write_text("untracked\n")
    (project / "a.txt").write_text("edited\n")
    run = project / ".cub/runs/1"
    run.mkdir(parents=True)
    (run / "system.md").write_text("Bake well.\n")
    (run / "prompt.md").write_text("Bake bread.\n")
    return _read_all(project)


def _open_place(project: Path, harness: Harness, environ: dict[str, str], kind: PlaceKind) -> Place:
    checkout = find_checkout(project)
    outside = (project, find_state_folder())
    found = prepare_user_folders(harness.facts.own_folders, environ, outside)
    settings = PlaceSettings(
        checkout, project, kind, writable=found.folders, read_only=found.read_only
    )
    place = Place(PlaceFolder(find_project_state(project) / "places/1"), settings)
    place.open()
    commit, tree = git(project, "rev-parse", "HEAD", "HEAD^{tree}").split()
    place.set_base(Base(commit, tree, "refs/heads/main", commit))
    place.begin({})
    return place


def _run(
    place: Place, harness: Harness, environ: dict[str, str], permissions: str
) -> tuple[Transcript, int | None, str]:
    project = place.settings.root
    root = place.get_inner_root(place.tree)
    scratch = find_project_state(root) / MAILBOX
    request = LaunchRequest(
        "Bake bread.", "Bake well.", project / ".cub/runs/1", scratch, "s-1", 1, None, permissions,
        can_nest=place.settings.kind.can_nest,
    )  # fmt: skip
    command = harness.build_command(request)
    command.write_files(place.folder.mailbox)
    spec = CommandSpec(command.argv, root, environ, command.stdin)
    found = run_and_capture_streams(
        place.confine(spec, place.tree), TimeLimits(wall=60), None, 2_000_000
    )
    transcript, reader = Transcript(), harness.open_reader()
    for event in (*reader.read(found.out), *reader.finish()):
        transcript.add_event(event)
    return transcript, found.result.exit_code, found.err.decode("utf-8", "replace")[-2000:]


def _list_settings(home: Path) -> Iterator[Path]:
    return (path for name in SETTINGS for path in home.rglob(name))


def _read_all(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode and content of each file, also of git's."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
