from __future__ import annotations

from pathlib import Path

import pytest

from cub.context.selectors import Selectors
from cub.context.task_files import find_task_file, list_task_files
from cub.context.text_reader import TextReader
from cub.errors import CubError
from tests.context.places import make_reader

RESUMES: Selectors = {"resume": ("true",)}


def find_body(reader: TextReader, name: str, selectors: Selectors | None = None) -> str:
    return find_task_file(reader, name, selectors or {}).text.body


def explain(reader: TextReader, name: str, selectors: Selectors | None = None) -> CubError:
    with pytest.raises(CubError) as caught:
        find_task_file(reader, name, selectors or {})
    return caught.value


def test_the_name_of_the_file_counts(tmp_path: Path) -> None:
    text = "---\ntask_name: other\n---\nFIX"
    reader = make_reader(tmp_path, {"proj/.agents/tasks/a/b/fix.md": text})
    assert find_body(reader, "fix") == "FIX"
    assert find_body(reader, "fix.md") == "FIX"
    assert explain(reader, "other").message == "task not found: other"


def test_the_home_folder_has_tasks_too(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"home/.agents/tasks/h.md": "HOME"})
    file = find_task_file(reader, "h", {})
    assert (file.name, file.is_project) == ("~/.agents/tasks/h.md", False)


def test_a_file_with_two_names_is_one_file(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/a/t.md": "ONE", "proj/.agents/tasks/x": ""})
    (tmp_path / "up/proj/.agents/tasks/b").symlink_to("a")
    assert find_task_file(reader, "t", {}).name == ".agents/tasks/a/t.md"


def test_the_home_folder_may_be_the_project(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"home/.agents/tasks/t.md": "HOME"})
    assert reader.home
    assert find_body(TextReader(reader.home, reader.home, reader.home), "t") == "HOME"


def test_nothing_found_names_the_folders_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "up/proj/sub").mkdir(parents=True)
    reader = make_reader(tmp_path, {"proj/.agents/tasks/fix-bug.md": "x"}, "sub")
    error = explain(reader, "fixbug")
    assert error.details == (
        "no task found with this name. Searched:",
        "- ./.agents/tasks/",
        "- ../.agents/tasks/",
        "- ~/.agents/tasks/",
    )
    assert error.hint == "did you mean 'fix-bug'?"


def test_a_path_is_no_name(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/a/t.md": "x"})
    assert explain(reader, "a/t").hint == "give the name of the file alone: t"


def test_what_a_selector_leaves_out_is_named(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/t.md": "---\nenv: prod\n---\n"})
    details = explain(reader, "t", {"env": ("dev",)}).details
    assert details[-2:] == ("Left out:", "- .agents/tasks/t.md: env is prod, not dev")


def test_several_are_an_error_that_tells_them_apart(tmp_path: Path) -> None:
    files = {"a": "---\nenv: dev\nx: 1\n---\n", "b": "---\nenv: prod\nx: 1\n---\n"}
    reader = make_reader(
        tmp_path, {f"proj/.agents/tasks/{name}/t.md": files[name] for name in files}
    )
    error = explain(reader, "t")
    assert error.message == "multiple tasks found: t"
    assert error.details == (
        "- .agents/tasks/a/t.md (env: dev)",
        "- .agents/tasks/b/t.md (env: prod)",
    )
    assert error.hint == "choose by a field: -s env=dev"
    assert find_task_file(reader, "t", {"env": ("prod",)}).name == ".agents/tasks/b/t.md"


def test_equal_files_can_only_be_renamed(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {f"proj/.agents/tasks/{name}/t.md": "x" for name in "ab"})
    assert explain(reader, "t").hint.startswith("rename all but one of them")


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        (["", "env: dev"], "rename all but one of them, or give each its own value of one field"),
        (["env: [dev, test]", "env: [dev, prod]"], "choose by a field: -s env=test"),
        (["env: a b", "env: dev"], "choose by a field: -s 'env=a b'"),
        (["resume: true", ""], "choose by a field: -s resume=true"),
    ],
)
def test_the_hint_leaves_one_file(tmp_path: Path, fields: list[str], hint: str) -> None:
    texts = {f"proj/.agents/tasks/{n}/t.md": f"---\n{one}\n---\n" for n, one in enumerate(fields)}
    assert explain(make_reader(tmp_path, texts), "t").hint == hint


def test_resuming_takes_the_variant(tmp_path: Path) -> None:
    files = {"a": "FIRST", "b": '---\nresume: "true"\n---\nAGAIN'}
    reader = make_reader(
        tmp_path, {f"proj/.agents/tasks/{name}/t.md": files[name] for name in files}
    )
    assert find_body(reader, "t", RESUMES) == "AGAIN"
    assert "multiple tasks found" in explain(reader, "t").message


def test_resuming_does_without_a_variant(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/t.md": "ONLY"})
    assert find_body(reader, "t", RESUMES) == "ONLY"
    no = make_reader(tmp_path, {"proj/.agents/tasks/n.md": "---\nresume: false\n---\n"})
    assert explain(no, "n", RESUMES).message == "task not found: n"


def test_a_task_runs_commands_only_if_it_says_so(tmp_path: Path) -> None:
    head = "---\nexpand_commands: true\n"
    texts = {
        "yes": f"{head}---\n!`a` !`b`",
        "no": "!`c`",
        "off": f"{head}expand: false\n---\n!`d`",
        "word": "---\nexpand_commands: 'true'\n---\n!`e`",
    }
    files = {f"proj/.agents/tasks/{name}.md": text for name, text in texts.items()}
    reader = make_reader(tmp_path, {**files, "home/.agents/tasks/h.md": texts["yes"]})
    assert {f.path.stem: f.commands for f in list_task_files(reader)} == {
        "yes": ["a", "b"],
        "no": [],
        "off": [],
        "word": [],
    }


LISTED = "run `cub context --list` to list the task files, or create .agents/tasks/zebra.md"


@pytest.mark.parametrize(
    ("name", "selectors", "hint"),
    [
        ("t", {"stage": ("x",)}, "choose a value that a file has: -s stage=plan or -s stage=build"),
        ("u", {}, "did you mean 'up'?"),
        ("fix it", {}, "to print a prompt, use --prompt TEXT"),
        (".agents/tasks/a/t", {}, "give the name of the file alone: t"),
        ("deploy", {}, "the name of the file decides, not its task_name: up"),
        ("zebra", {}, LISTED),
    ],
)  # fmt: skip
def test_a_hint_says_what_would_work(
    tmp_path: Path, name: str, selectors: Selectors, hint: str
) -> None:
    files = {
        "proj/.agents/tasks/a/t.md": "---\nstage: plan\n---\nT",
        "proj/.agents/tasks/b/t.md": "---\nstage: build\n---\nT",
        "proj/.agents/tasks/up.md": "---\ntask_name: deploy\n---\nU",
    }
    with pytest.raises(CubError) as caught:
        find_task_file(make_reader(tmp_path, files), name, selectors)
    assert caught.value.hint == hint
