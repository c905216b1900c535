"""All messages against the protocol's own JSON Schema, which is not part of cub.

CUB_ACP_SCHEMA names the file `schema/v1/schema.json` of the npm package `@agentclientprotocol/sdk`.
Recorded traffic of real agents is in the folder CUB_SHARED.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from cub.harness.acp.conversation import SessionOptions
from tests.harness.acp.talks import QUICK, ask, result, said, talk

pytestmark = pytest.mark.skipif(
    "CUB_ACP_SCHEMA" not in os.environ, reason="CUB_ACP_SCHEMA is not set"
)
SHARED = Path(os.environ.get("CUB_SHARED", "."))
RECORDED = sorted(SHARED.glob("samples/acp-*.jsonl"))


@cache
def schema() -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(Path(os.environ["CUB_ACP_SCHEMA"]).read_text())
    return tree


def find_faults(messages: Iterable[Mapping[str, Any]], methods: Mapping[int, str]) -> list[str]:
    """Return what is wrong in messages of one side; `methods` are of the requests they answer."""
    faults, definitions = list[str](), schema()["$defs"]
    names = {(one.get("x-method"), name.endswith("Response")): name
             for name, one in definitions.items()}  # fmt: skip
    for message in messages:
        is_response = "method" not in message
        method = methods[message["id"]] if is_response else message["method"]
        name = names.get((method, is_response))
        if "error" in message or name is None:
            continue  # names of their own, such as session/set_model
        tree = {"$ref": f"#/$defs/{name}", "$defs": definitions}
        value = message.get("result" if is_response else "params")
        found = jsonschema.Draft202012Validator(tree).iter_errors(value)
        faults += [f"{method}: {fault.message}" for fault in found]
    return faults


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_real_agents_sent_is_valid(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for side in ("in", "out"):
        requests = [line["msg"] for line in lines if line["dir"] != side]
        methods = {one["id"]: one["method"] for one in requests if "method" in one and "id" in one}
        assert find_faults((line["msg"] for line in lines if line["dir"] == side), methods) == []


@pytest.mark.parametrize("flags", [(), ("options",), ("takes-system",)])
def test_what_cub_sends_is_valid(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    monkeypatch.setenv("ACP_LOG", str(log))
    done = talk(
        *flags,
        ask(1, kind="execute", title="make"),
        ask(2, kind="fetch", title="Fetch"),
        ask(3, options=("allow_always",)),
        {"id": 9, "method": "fs/read_text_file", "params": {"sessionId": "$session", "path": "/"}},
        said("Hi"),
        options=SessionOptions("auto", "free", "large", "Be brief."),
    )
    assert not done.failed
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(messages) == 9
    methods = dict.fromkeys((1, 2, 3), "session/request_permission") | {9: "fs/read_text_file"}
    assert find_faults(messages, methods) == []
    known = {one.get("x-method") for one in schema()["$defs"].values()}
    assert {one["method"] for one in messages if "method" in one} - known <= {"session/set_model"}
    assert [one["error"]["code"] for one in messages if "error" in one] == [-32601]
    assert all(one["jsonrpc"] == "2.0" for one in messages)


def test_a_cancellation_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    monkeypatch.setenv("ACP_LOG", str(log))
    talk("cancelled", ask(1), result("cancelled"), patience=QUICK._replace(silence=0.1))
    *_, cancel, answer = [json.loads(line) for line in log.read_text().splitlines()]
    assert cancel["method"] == "session/cancel"
    assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
    assert find_faults([cancel, answer], {1: "session/request_permission"}) == []


def test_a_wrong_message_is_found() -> None:
    wrong = {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "content": "Hi"}}
    assert find_faults([wrong], {}) != []
