from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cub.actions.agents.agent_proof import AgentProof, prove_agent
from cub.actions.agents.agent_survey import list_agents
from cub.actions.agents.session_moments import Moment
from cub.actions.agents.text_marks import Arrival
from cub.project.project import Project
from cub.project.trust_store import TrustedCommands
from tests.actions.agents.fake_agents import install_fake_claude
from tests.cli.stories import write
from tests.conftest import Cub

RULES = "# Bakery\n\nBake bread before six in the morning.\nPrices are in cents, never in euros.\n"
HOOKS = ".claude/settings.json"
ONCE, NEVER = Arrival(1, False), Arrival(0, False)


@pytest.fixture
def bakery(project: Path) -> Path:
    """A project with rules of its user's."""
    write(project, "AGENTS.md", RULES)
    return project


def prove(
    project: Path, folder: Path, *, reads: tuple[str, ...] = ("AGENTS.md",), more: str = "",
    trusted: bool = False, after: Moment = "",
) -> AgentProof:  # fmt: skip
    """The proof of a program that is taken for Claude Code and reads these files."""
    environ = {"PATH": str(install_fake_claude(folder / "bin", reads, more)), "HOME": str(folder)}
    loaded = Project.load(project)
    claude = list_agents(loaded, environ)[0]
    agreed = None if trusted else TrustedCommands()
    return prove_agent(claude, loaded, environ, trusted=agreed, after=after)


def seen(proof: AgentProof) -> dict[str, tuple[Arrival | None, Arrival | None]]:
    return {source.label: (source.interactive, source.run) for source in proof.sources}


def test_each_text_is_counted_in_both_uses(bakery: Path, tmp_path: Path) -> None:
    proof = prove(bakery, tmp_path)
    assert (proof.title, proof.version, proof.problem) == ("Claude Code", "2.1.330", "")
    assert seen(proof) == {
        "AGENTS.md (yours)": (ONCE, ONCE),
        "rules of a run": (None, ONCE),
        "task prompt": (None, ONCE),
    }
    assert proof.is_kept


@pytest.mark.thorough
def test_a_text_that_the_agent_misses_is_handed_over_in_a_run(bakery: Path, tmp_path: Path) -> None:
    write(bakery, "CLAUDE.md", "# Mine\n\nNever sell yesterday's bread as fresh.\n")
    proof = prove(bakery, tmp_path, reads=("CLAUDE.md",))
    assert seen(proof)["AGENTS.md (yours)"] == (NEVER, ONCE)
    assert seen(proof)["CLAUDE.md (yours)"] == (ONCE, ONCE)
    assert proof.is_kept


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("reads", "more", "arrival"),
    [
        ((), "", NEVER),
        (("AGENTS.md", "AGENTS.md"), "", Arrival(2, False)),
        (("AGENTS.md",), "texts[0] = texts[0][:60]", Arrival(1, True, 3)),
    ],
    ids=["never", "twice", "cut"],
)
def test_a_promise_that_is_not_kept_shows(
    bakery: Path, tmp_path: Path, reads: tuple[str, ...], more: str, arrival: Arrival
) -> None:
    proof = prove(bakery, tmp_path, reads=reads, more=more)
    assert seen(proof)["AGENTS.md (yours)"] == (arrival, arrival)
    assert not proof.is_kept


@pytest.mark.thorough
def test_a_project_of_cubs_with_all_its_texts(project: Path, tmp_path: Path, cub: Cub) -> None:
    write(project, "AGENTS.md", RULES)
    assert cub("init").code == 0
    reads = (".cub/constitution.md", "AGENTS.md")  # AGENTS.md imports it
    proof = prove(project, tmp_path, reads=reads)
    assert [source.label for source in proof.sources] == [
        "AGENTS.md (yours)", "managed section", ".cub/constitution.md", "rules of a run",
        "task prompt",
    ]  # fmt: skip
    assert proof.is_kept, proof.sources


def test_equal_texts_are_one_row_and_all_of_their_files_count(bakery: Path, tmp_path: Path) -> None:
    write(bakery, "CLAUDE.md", RULES)
    proof = prove(bakery, tmp_path, reads=("AGENTS.md", "CLAUDE.md"))
    assert seen(proof)["AGENTS.md (yours)"][0] == Arrival(2, False)
    assert not proof.is_kept


@pytest.mark.thorough
def test_a_text_that_is_too_large_to_be_copied_is_unknown(project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", "x\n" * (1 << 20))
    proof = prove(project, tmp_path)
    assert seen(proof)["AGENTS.md (yours)"] == (None, None)
    assert not proof.is_kept


@pytest.mark.thorough
def test_rules_have_to_arrive_and_files_of_directories_are_named(
    bakery: Path, tmp_path: Path
) -> None:
    rules = (".claude/rules/a.md", ".claude/rules/b.md")
    for name in (*rules, "src/AGENTS.md"):
        write(bakery, name, f"{name}\n")
    proof = prove(bakery, tmp_path, reads=("AGENTS.md", *rules))
    assert [seen(proof)[name] for name in rules] == [(ONCE, ONCE)] * 2
    assert (proof.unread, proof.is_kept) == (["src/AGENTS.md"], True)
    assert not prove(bakery, tmp_path / "again", reads=("AGENTS.md", rules[0])).is_kept


@pytest.mark.thorough
def test_an_imported_file_that_does_not_arrive_is_a_fault(project: Path, tmp_path: Path) -> None:
    write(project, "AGENTS.md", f"{RULES}@docs/rules.md\n")
    write(project, "docs/rules.md", "Flour is bought on Monday.\n")
    assert prove(project, tmp_path, reads=("AGENTS.md", "docs/rules.md")).is_kept
    proof = prove(project, tmp_path)
    assert seen(proof)["docs/rules.md"] == (NEVER, NEVER)
    assert not proof.is_kept


def test_what_is_outside_of_the_project_is_named(bakery: Path, tmp_path: Path) -> None:
    write(tmp_path, ".claude/CLAUDE.md", RULES)
    assert prove(bakery, tmp_path).unused == ["~/.claude/CLAUDE.md"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (
            "sys.exit('the license is missing')",
            "it sent no request to a model: the license is missing",
        ),
        ("sys.exit()", "it sent no request to a model, and printed nothing"),
    ],
)
def test_the_last_words_of_an_agent_that_asks_no_model(
    project: Path, tmp_path: Path, more: str, problem: str
) -> None:
    proof = prove(project, tmp_path, more=more)
    assert (proof.problem, proof.is_kept) == (problem, False)


def test_nothing_in_the_project_is_changed_and_the_home_is_new(
    bakery: Path, tmp_path: Path
) -> None:
    more = "Path('AGENTS.md').write_text('spoilt')\nprint(os.environ['HOME'], os.getcwd())"
    proof = prove(bakery, tmp_path, more=f"{more}\nsys.exit()")
    assert (bakery / "AGENTS.md").read_text() == RULES
    home, folder = proof.problem.removeprefix("it sent no request to a model: ").split()
    assert not Path(home).exists()
    assert folder.endswith(bakery.as_posix())
    assert not Path(folder).exists()


@pytest.mark.thorough
def test_what_runs_is_left_out_unless_it_is_trusted(project: Path, tmp_path: Path) -> None:
    write(project, HOOKS, "{}\n")
    more = f"sys.exit(str(Path({HOOKS!r}).exists()))"
    assert prove(project, tmp_path, more=more).problem == "it sent no request to a model: False"
    assert (
        prove(project, tmp_path, more=more, trusted=True).problem
        == "it sent no request to a model: True"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("trusted", [True, False])
def test_arguments_of_the_configuration_count_if_it_is_trusted(
    project: Path, tmp_path: Path, *, trusted: bool
) -> None:
    write(project, ".cub/config.yaml", "harnesses: {claude: {args: [--odd], model: odd}}\n")
    proof = prove(project, tmp_path, more="sys.exit(str('--odd' in words))", trusted=trusted)
    assert proof.problem == f"it sent no request to a model: {trusted}"


def test_arguments_that_change_only_what_is_read_always_count(
    project: Path, tmp_path: Path
) -> None:
    write(project, ".cub/config.yaml", "harnesses: {claude: {args: [--bare, --odd]}}\n")
    more = "sys.exit(str([word for word in words if word in ('--bare', '--odd')]))"
    assert prove(project, tmp_path, more=more).problem.endswith("model: ['--bare']")


def test_arguments_with_values_count_or_are_named(project: Path, tmp_path: Path) -> None:
    kept = ["--setting-sources user", "--setting-sources=local", "--bare", "--read docs/a.md"]
    kept += ["-c project_doc_max_bytes=0", "--config project_root_markers=[]"]
    dropped = ["--settings x.json", "-c mcp_servers.a.command=x", "-c aider.conf", "--odd"]
    words = [word for one in (*kept, *dropped) for word in one.split()]
    settings = {"harnesses": {"claude": {"args": words, "env": {"A_KEY": "x"}}}}
    write(project, ".cub/config.yaml", json.dumps(settings))
    sent = prove(project, tmp_path, more="sys.exit(' '.join(words))").problem
    assert " ".join(kept) in sent
    assert not any(one in sent for one in dropped)
    assert prove(project, tmp_path).left_out == (*dropped, "$A_KEY")
    assert prove(project, tmp_path, trusted=True).left_out == ()


def test_arguments_lead_to_the_copy(project: Path, tmp_path: Path) -> None:
    root = project.as_posix()
    settings = {"harnesses": {"claude": {"args": [f"--read={root}/x.md", f"{root}-other"]}}}
    write(project, ".cub/config.yaml", json.dumps(settings))
    more = "sys.exit(str([f'--read={os.getcwd()}/x.md' in words, 'ROOT-other' in words]))"
    proof = prove(project, tmp_path, more=more.replace("ROOT", root), trusted=True)
    assert proof.problem.endswith("model: [True, True]")


def test_an_agent_that_is_not_installed_is_not_started(project: Path) -> None:
    loaded, environ = Project.load(project), {"PATH": str(project)}
    proof = prove_agent(list_agents(loaded, environ)[0], loaded, environ, trusted=TrustedCommands())
    assert (proof.problem, proof.is_kept) == ("claude is not in PATH", False)


@pytest.mark.parametrize(("more", "arrival"), [("", ONCE), ("RESUMED", NEVER)])
def test_what_a_resumed_session_loses_shows(
    bakery: Path, tmp_path: Path, more: str, arrival: Arrival
) -> None:
    lose = "if '--continue' in words: texts.clear()" if more else ""
    proof = prove(bakery, tmp_path, more=lose, after="resume")
    assert seen(proof)["AGENTS.md (yours)"] == (arrival, arrival)
    assert proof.is_kept is not bool(more)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("after", "more", "problem"),
    [
        ("resume", "if '--continue' in words: sys.exit()", "it did not resume its session"),
        ("compaction", "", "it did not compact its session"),
        ("subagent", "", "it did not start a subagent"),
    ],
)
def test_a_moment_that_does_not_come_leaves_the_result_unknown(
    bakery: Path, tmp_path: Path, after: Moment, more: str, problem: str
) -> None:
    proof = prove(bakery, tmp_path, more=more, after=after)
    assert (proof.is_tested, proof.is_kept, proof.after) == (True, False, after)
    assert proof.problem == problem


def test_an_agent_that_cannot_be_brought_to_a_moment_is_not_started(project: Path) -> None:
    loaded, environ = Project.load(project), {"PATH": str(project)}
    (aider,) = (one for one in list_agents(loaded, environ) if one.name == "aider")
    agent = replace(aider, problem="")
    proof = prove_agent(agent, loaded, environ, trusted=TrustedCommands(), after="compaction")
    assert (proof.is_tested, proof.is_kept) == (False, True)
    assert proof.problem == "cub can't drive aider to it"


_COMPACTS = """
said = sys.stdin.read()
marker = Path.home() / "compacted"
is_compacted = "--continue" in words and marker.exists()
if said == "/compact": marker.touch()
sys.stdin = io.StringIO("summary: cubmoment" if is_compacted else said)
"""


@pytest.mark.parametrize(("loses", "arrival"), [(False, ONCE), (True, NEVER)])
def test_what_is_left_after_a_compaction_is_counted_in_the_session_after_it(
    bakery: Path, tmp_path: Path, *, loses: bool, arrival: Arrival
) -> None:
    lose = "if is_compacted: texts.clear()" if loses else ""
    proof = prove(bakery, tmp_path, more=f"import io{_COMPACTS}{lose}", after="compaction")
    assert seen(proof)["AGENTS.md (yours)"] == (arrival, arrival)
    assert proof.is_kept is not loses


def test_what_a_subagent_gets_is_counted(bakery: Path, tmp_path: Path) -> None:
    more = "if 'run' in os.getcwd(): texts.clear()\ntexts.append('cubmoment')"
    proof = prove(bakery, tmp_path, more=more, after="subagent")
    assert seen(proof)["AGENTS.md (yours)"] == (ONCE, NEVER)
    assert not proof.is_kept
