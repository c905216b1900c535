from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cub.store.backend import JsonlBackend
from cub.store.jsonl import Record
from cub.store.store_paths import TASKS_FILE
from cub.store.task_schema import SET_KEYS
from tests.examples import hardly_any_examples
from tests.store.records import TEXTS, VALUES, closed, reopened, task
from tests.store.stores import loaded, put, set_in, stored

IDS = st.sampled_from([f"t-{number}" for number in range(6)])
ON = st.integers(1, 5)
NAMES = st.sampled_from(["a", "b", "c", "\ud800"])


TIMES = ("rev", "created_at", "updated_at", "closed_at", "reopened_at", "stamps")


def bare(store: dict[str, Record]) -> dict[str, Record]:
    """What a model knows: no times, and sets without an order."""
    return {
        key: {
            name: sorted(value) if name in SET_KEYS else value
            for name, value in record.items()
            if name not in TIMES
        }
        for key, record in store.items()
    }


class Model(RuleBasedStateMachine):
    """A store on disk beside a dictionary: what one does is done to the other."""

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.root = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None)).resolve()
        self.model: dict[str, Record] = {}
        self.lines: set[bytes] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(key=IDS, priority=st.integers(0, 4))
    def add(self, key: str, priority: int) -> None:
        if key not in self.model:
            self.model[key] = {**task(key, priority=priority)}
            put(self.root, [task(key, priority=priority)])

    @precondition(lambda self: self.model)
    @rule(data=st.data(), on=ON, value=TEXTS | VALUES, name=st.sampled_from(["notes", "x", "y"]))
    def set(self, data: st.DataObject, on: int, value: Any, name: str) -> None:
        key = self.chosen(data)
        set_in(self.root, key, {name: value}, on)
        self.model[key].pop(name, None)
        if value is not None:
            self.model[key][name] = value

    @precondition(lambda self: self.model)
    @rule(data=st.data(), on=ON, name=NAMES, field=st.sampled_from(["labels", "depends_on"]))
    def add_to_or_take_from(self, data: st.DataObject, on: int, name: str, field: str) -> None:
        key = self.chosen(data)
        names = self.model[key].get(field, [])
        names = [one for one in names if one != name] if name in names else [*names, name]
        set_in(self.root, key, {field: names}, on)
        self.model[key][field] = names

    @precondition(lambda self: self.model)
    @rule(data=st.data(), on=ON, shut=st.booleans())
    def close_or_reopen(self, data: st.DataObject, on: int, shut: bool) -> None:
        key = self.chosen(data)
        with JsonlBackend(self.root).transaction() as change:
            record = change.tasks.read_record(key)
            change.put_record(closed(record, on, "no_change") if shut else reopened(record, on))
        self.model[key]["status"] = "closed" if shut else "open"
        self.model[key].pop("close_reason", None)
        if shut:
            self.model[key]["close_reason"] = "no_change"

    @precondition(lambda self: self.lines)
    @rule(data=st.data())
    def double(self, data: st.DataObject) -> None:
        """As a merge does: a line comes back that was there once."""
        line = data.draw(st.sampled_from(sorted(self.lines)))
        with (self.root / TASKS_FILE).open("ab") as file:
            file.write(line + b"\n")

    @invariant()
    def both_are_the_same(self) -> None:
        assert bare(loaded(self.root)) == bare(self.model)
        self.lines |= set(stored(self.root).splitlines()) if self.model else set()

    def chosen(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.model)))


Model.TestCase.settings = settings(hardly_any_examples, stateful_step_count=25)
TestModel = Model.TestCase
