"""Runs with the real aider, which has no tools: it edits files by blocks in its replies."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from tests.agents.agent_runs import AgentRuns, Start, failure
from tests.model_server.faults import Reply, count_occurrences


def edit_file(text: str, name: str = "new.txt") -> Reply:
    block = f"{name}\n```\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE\n```"
    return Reply(f"I write it.\n\n{block}\n\nStatus: done")


class TestAider(AgentRuns):
    agent = "aider"
    fail_and_fix: ClassVar = (edit_file("sum", "wrong"), edit_file("b"))

    def test_an_edit_is_committed_and_its_task_closed(self, start: Start) -> None:
        made = start(edit_file("a"))
        done = made.run()
        assert done.outcomes == ["ok"]
        assert made.shop.status() == "closed"
        assert made.shop.log()[0].endswith("s-1")
        assert (made.shop.root / "new.txt").read_text() == "a\n"
        assert [path.name for path in made.shop.root.glob(".aider*")] == []
        (end,) = done.of("attempt_end")
        assert (end["tok"]["in"], end["tok"]["out"]) == (1000, 50)
        assert end["usd_src"] == "reported"
        assert end["trailer"]["status"] == "done"
        assert end["git"]["files"] == ["new.txt"]

    def test_a_limit_is_waited_for(self, start: Start) -> None:
        """As aider tries again soon, one refusal is none for the run."""
        refused = Reply(status=429, message="Slow down.")
        made = start(*[refused] * 4, edit_file("a"))
        done = made.run()
        assert done.outcomes == ["ok"]
        assert [event["type"] for event in done.of("client")].count("limit") == 1

    def test_the_end_of_a_limit_is_known(self, start: Start) -> None:
        made = start(then=Reply(status=429, message="Rate limit reached, try again in 3600s."))
        done = made.run(each=made.hurry, iterations=1)
        assert done.outcomes == ["rate_limited"]
        assert "try again in 3600s" in failure(done)["reason"]

    def test_a_budget_in_tokens_ends_it_in_the_middle(self, start: Start) -> None:
        """A file that a reply names has aider ask again, with that file."""
        made = start(Reply("See `rye.md`."), Reply("See `oat.md`."), edit_file("a"))
        for name in ("rye.md", "oat.md"):
            made.shop.write(name, "")
        made.shop.commit()
        done = made.run(tokens=1500)
        assert done.outcomes == ["budget"]
        assert len(made.requests) <= 3

    def test_files_that_a_task_names_are_in_the_chat(self, start: Start, home: Path) -> None:
        made = start(edit_file("a"))
        made.shop.write("baking.md", "Rye bread rests.\n")
        made.shop.commit()
        made.shop.task("s-2", description="Follow baking.md.")
        made.run(task="s-2", iterations=1)
        assert count_occurrences(made.requests[0], "Rye bread rests.") == 1
        assert not (home / ".aider.conf.yml").exists()
