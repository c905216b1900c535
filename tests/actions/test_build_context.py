"""Nothing that a repository brings along runs unasked: hostile ones are tried, too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cub.actions.build_context import ContextBuild, prepare_context
from cub.actions.command_options import ContextOptions
from cub.actions.context_scripts import list_context_scripts, make_text_reader
from cub.actions.run.command_trust import trust_project
from cub.actions.tasks.stores import Stores, open_stores
from cub.context.assembly import ContextRequest
from cub.errors import CubError
from cub.project.project import Project
from tests.written_files import write_files

TOUCH = "#!/bin/sh\ntouch ran-bootstrap\necho BOOTED\n"
CONFIG = "context_commands:\n- name: Evil\n  command: touch ran-command; echo CONFIGURED\n"
TASK = "---\nexpand_commands: true\n---\nT !`touch ran-inline; echo INLINE`\n"
REQUEST, PROMPT = ContextRequest("t", "P"), ContextRequest(prompt="P")
REPOSITORY = {
    ".agents/rules/a.md": "A",
    ".agents/rules/a-bootstrap": TOUCH,
    ".agents/rules/b.md": "---\nbootstrap: |\n  #!/bin/sh\n  touch ran-field\n---\nB",
    ".agents/tasks/t.md": TASK,
    "AGENTS.md": "!`touch ran-rule` ${x:-$(touch ran-x)}",
}


def make_project(folder: Path, config: str = "") -> Stores:
    write_files(folder, REPOSITORY)
    (folder / ".agents/rules/a-bootstrap").chmod(0o755)
    write_files(folder, {".cub/config.yaml": config} if config else {})
    return open_stores(Project.load(folder.resolve()), "ida")


def prepare(
    stores: Stores, request: ContextRequest = REQUEST, *, is_preview: bool = False, **options: Any
) -> ContextBuild:
    asked = ContextOptions(**options)
    return prepare_context(stores, request, asked, stores.root, os.environ, is_preview=is_preview)


def run(build: ContextBuild) -> tuple[list[str], str, list[str]]:
    """Return what bootstraps printed, the text, and the warnings."""
    printed = [run.text for run in build.run_bootstraps()]
    context = build.assemble()
    return printed, context.text, [warning.message for warning in context.warnings]


def traces(stores: Stores) -> list[str]:
    return sorted(path.name for path in stores.root.glob("ran-*"))


def test_nothing_runs_that_nobody_has_agreed_to(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    printed, text, warnings = run(prepare(stores))
    assert (printed, traces(stores)) == ([], [])
    assert text == f"A\n\nB\n\n{REPOSITORY['AGENTS.md']}\n\n{TASK.split('---')[2].strip()}\n\nP"
    assert warnings == [
        "this bootstrap is not trusted and was not run",
        "this bootstrap is not trusted and was not run",
        "the command 'touch ran-inline; echo INLINE' is not trusted and was not run",
    ]


def test_a_project_inside_a_repository_does_not_make_its_scripts_yours(tmp_path: Path) -> None:
    make_project(tmp_path)
    write_files(tmp_path, {"AGENTS.md": "---\nbootstrap: '#!/bin/sh'\n---\nUp"})
    write_files(tmp_path, {"inner/.cub/config.yaml": ""})
    stores = open_stores(Project.load((tmp_path / "inner").resolve()), "ida")
    build = prepare(stores, PROMPT)
    assert [bootstrap.name for bootstrap in build.bootstraps] == ["../AGENTS.md (bootstrap)"]
    assert run(build)[::2] == ([], ["this bootstrap is not trusted and was not run"])
    scripts = list_context_scripts(make_text_reader(stores.project, stores.root))
    trust_project(stores, {}, scripts)
    assert len(run(prepare(stores, PROMPT))[0]) == 1


def test_configured_commands_that_nobody_has_agreed_to_end_it(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    with pytest.raises(CubError, match="not trusted"):
        prepare(stores)
    assert "CONFIGURED" not in run(prepare(stores, no_context_exec=True))[1]
    assert traces(stores) == []


def test_a_preview_runs_nothing_and_needs_no_trust(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    build = prepare(stores, is_preview=True)
    assert build.preview().text.startswith("A\n\nB\n\n")
    assert [command.name for command in build.settings.commands] == ["Evil"]
    assert traces(stores) == []


def test_all_that_will_run_is_listed_and_nothing_else(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    trusted = prepare(stores, trust=True).list_commands(trusted=True)
    assert [(command.name, command.command) for command in trusted] == [
        ("Bootstrap", TOUCH),
        ("Bootstrap", "#!/bin/sh\ntouch ran-field\n"),
        ("Evil", "touch ran-command; echo CONFIGURED"),
        ("Command", "touch ran-inline; echo INLINE"),
    ]
    preview = prepare(stores, is_preview=True)
    assert preview.list_commands(trusted=False) == trusted
    assert preview.list_commands(trusted=True) == []
    mine = prepare(stores, exec_lines=("echo x",), no_context_exec=True).list_commands(trusted=True)
    assert [command.command for command in mine] == ["echo x"]


def test_trust_for_once_is_not_stored(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    printed, text, warnings = run(prepare(stores, trust=True))
    assert (printed, warnings) == (["BOOTED", ""], [])
    assert text == (
        f"A\n\nB\n\n{REPOSITORY['AGENTS.md']}\n\n"
        "--- Context: Evil ---\nCONFIGURED\n--- End Context ---\n\nT INLINE\n\nP"
    )
    assert traces(stores) == ["ran-bootstrap", "ran-command", "ran-field", "ran-inline"]
    with pytest.raises(CubError, match="not trusted"):
        prepare(stores)


def test_what_was_agreed_to_runs_until_it_changes(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    scripts = list_context_scripts(make_text_reader(stores.project, stores.root))
    assert [(script.title, script.text) for script in scripts] == [
        ("a bootstrap, .agents/rules/a-bootstrap", TOUCH),
        ("a bootstrap, .agents/rules/b.md (bootstrap)", "#!/bin/sh\ntouch ran-field\n"),
        ("a command in a task file, .agents/tasks/t.md", "touch ran-inline; echo INLINE"),
    ]
    trust_project(stores, {}, scripts)
    assert run(prepare(stores))[0] == ["BOOTED", ""]
    write_files(stores.root, {".agents/rules/a-bootstrap": f"{TOUCH}echo MORE\n"})
    printed, _, warnings = run(prepare(stores))
    assert (printed, len(warnings)) == ([""], 1)


def test_what_was_read_is_what_runs(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    build = prepare(stores, trust=True)
    evil = TOUCH.replace("BOOTED", "EVIL")
    field = f"---\nbootstrap: |\n  {evil}---\nB".replace("\n", "\n  ").replace("  ---", "---")
    changed = {
        ".agents/rules/a-bootstrap": evil,
        ".agents/rules/b.md": field,
        ".agents/tasks/t.md": TASK.replace("INLINE", "EVIL"),
        ".cub/config.yaml": CONFIG.replace("CONFIGURED", "EVIL"),
    }
    write_files(stores.root, changed)
    printed, text, warnings = run(build)
    assert (printed, warnings) == (["BOOTED", ""], [])
    assert all(word in text for word in ("CONFIGURED", "INLINE"))
    assert "EVIL" not in text


def test_a_configuration_is_trusted_as_it_was_read(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    trust_project(stores, {})
    changed = {".cub/config.yaml": CONFIG.replace("CONFIGURED", "EVIL")}
    write_files(stores.root, changed)
    trusted, stores = stores, open_stores(Project.load(stores.root), "ida")
    with pytest.raises(CubError, match="changed since you trusted them"):
        prepare(stores)
    write_files(stores.root, {".cub/config.yaml": CONFIG})
    with pytest.raises(CubError, match="changed since you trusted them"):
        prepare(stores)  # the approved bytes are back, but others would run
    assert "CONFIGURED" in run(prepare(trusted))[1]


def test_a_required_parameter_is_missed_before_anything_runs(tmp_path: Path) -> None:
    stores = make_project(tmp_path, CONFIG)
    write_files(stores.root, {".agents/tasks/t.md": "${issue:?which one?}"})
    with pytest.raises(CubError, match="which one"):
        prepare(stores, trust=True)
    assert traces(stores) == []


def test_bootstraps_of_rules_that_are_left_out_do_not_run(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    write_files(stores.root, {".agents/rules/a.md": "---\nenv: prod\n---\nA"})
    request = ContextRequest(prompt="P", selectors={"env": ("dev",)})
    build = prepare(stores, request, trust=True)
    assert [bootstrap.name for bootstrap in build.bootstraps] == [".agents/rules/b.md (bootstrap)"]


def test_nothing_is_cut_or_fails_in_silence(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    long = "head -c 200000 /dev/zero | tr '\\0' x"
    write_files(stores.root, {
        ".agents/rules/a-bootstrap": f"#!/bin/sh\n{long}; exit 4\n",
        ".agents/tasks/t.md": TASK.replace("touch ran-inline;", "exit 3;"),
    })  # fmt: skip
    build = prepare(stores, exec_lines=(f"{long}; exit 2",), trust=True)
    list(build.run_bootstraps())
    warnings = [f"{one.location}: {one.message}" for one in build.assemble().warnings]
    assert warnings == [
        ".agents/rules/a-bootstrap: this bootstrap exited with code 4",
        ".agents/rules/a-bootstrap: 134,464 of 200,000 bytes of its output were left out",
        f"--exec: the command {f'{long}; exit 2'!r} exited with code 2",
        f"--exec: 134,464 of 200,000 bytes of the output of {f'{long}; exit 2'!r} were left out",
        ".agents/tasks/t.md: the command 'exit 3; echo INLINE' exited with code 3",
    ]
    late = prepare(stores, PROMPT, exec_lines=("sleep 9",), exec_timeout="0.1s")
    (warning,) = late.assemble().warnings
    assert warning.message == "the command 'sleep 9' timed out after 0.1 seconds"
    assert "--exec-timeout" in warning.hint


def test_commands_of_the_caller_need_no_trust(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    text = run(prepare(stores, PROMPT, exec_lines=("echo MINE",)))[1]
    assert "--- Context: CLI Command 1 ---\nMINE\n--- End Context ---\n\nP" in text


def test_a_command_that_is_written_twice_runs_once(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    command = "!`echo x >> log; wc -l < log`"
    task = f"---\nexpand_commands: true\n---\n{command} {command}"
    write_files(stores.root, {".agents/tasks/t.md": task})
    text = run(prepare(stores, trust=True))[1]
    assert [word for word in text.split() if word.isdigit()] == ["1", "1"]


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    stores = make_project(tmp_path)
    write_files(stores.root, {".agents/tasks/t.md": TASK.replace("touch ran-inline;", "exit 3;")})
    _, text, warnings = run(prepare(stores, trust=True))
    assert text.endswith("T \n\nP")
    assert warnings == ["the command 'exit 3; echo INLINE' exited with code 3"]
