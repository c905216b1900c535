"""Speaks MCP over stdio, or breaks off, as its first argument says. Nothing is imported but JSON.

echo        answers calls of `echo` with their arguments, and what the process can see
hang-start  never answers        hang-list  answers `initialize` alone
no-tools    knows no `tools/list`   odd-list   has no list of tools
odd-tools   lists a tool without a schema, one without a name, what is no tool, and a good one
garbage     writes lines that are no messages, before and between its answers
stay        never answers, and does not exit when its stdin ends
exit        prints a reason to stderr and exits with code 3
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

MODE = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def write_text(number: int, text: str, **more: Any) -> None:
    write({"id": number, "result": {"content": [{"type": "text", "text": text}], **more}})


def die(_number: int, _arguments: dict[str, Any]) -> None:
    sys.stderr.write("no more disk\n")
    sys.exit(7)


def flood(_number: int, _arguments: dict[str, Any]) -> None:
    while True:
        sys.stdout.write("x" * 65536)


def notify(_number: int, _arguments: dict[str, Any]) -> None:
    while True:
        write({"method": "notifications/message", "params": {"level": "info", "data": "x" * 9000}})


def start_child(number: int, _arguments: dict[str, Any]) -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "trap '' TERM INT; sleep 300 & wait"])
    write_text(number, str(child.pid))


def show_environ(number: int, _arguments: dict[str, Any]) -> None:
    write_text(number, json.dumps({**os.environ, "folder": os.getcwd()}))  # noqa: PTH109


TOOLS: dict[str, Callable[[int, dict[str, Any]], None]] = {
    "echo": lambda number, arguments: write_text(number, json.dumps(arguments)),
    "count": lambda number, _: write_text(number, str(number)),
    "fail": lambda number, _: write_text(number, "there is no such ticket", isError=True),
    "refuse": lambda number, _: write({"id": number, "error": {"code": -1, "message": "not now"}}),
    "odd": lambda number, _: write({"id": number, "result": {"answer": 1}}),
    "hang": lambda _number, _: None,
    "die": die,
    "flood": flood,
    "notify": notify,
    "start_child": start_child,
    "show_environ": show_environ,
}


def note(name: str) -> None:
    with open(name, "a") as file:  # noqa: PTH123 - pathlib starts slowly
        file.write("x")


def begin() -> None:
    if MODE == "exit":
        sys.stderr.write("Traceback:\nno module named tickets\n")
        sys.exit(3)
    if MODE in ("quit", "log"):
        note("starts")
    if MODE == "garbage":
        sys.stdout.write("Welcome to tickets!\n\n{not json\n[1]\n")


def answer(number: int, method: str, params: dict[str, Any]) -> None:
    if method == "initialize":
        info = {"name": "raw", "version": "1"}
        capabilities: dict[str, Any] = {"tools": {}}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities}
        write({"id": number, "result": {**result, "serverInfo": info}})
    elif method == "tools/list" and MODE == "no-tools":
        write({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "tools/list" and MODE == "odd-list":
        write({"id": number, "result": {"tools": {}}})
    elif method == "tools/list" and MODE == "odd-tools":
        odd = [{"name": "one", "inputSchema": {}}, {"inputSchema": SCHEMA}, 5]
        write({"id": number, "result": {"tools": [*odd, {"name": "good", "inputSchema": SCHEMA}]}})
    elif method == "tools/list":
        tools = [{"name": one, "description": one, "inputSchema": SCHEMA} for one in TOOLS]
        write({"id": number, "result": {"tools": tools}})
        if MODE == "quit":
            sys.exit(0)
    elif method == "tools/call":
        TOOLS[params["name"]](number, params.get("arguments", {}))


begin()
for line in sys.stdin:
    message = json.loads(line)
    if MODE == "garbage":
        sys.stdout.write("\x1b[1mdebug\x1b[0m \xff\n")
        write({"id": 99, "method": "roots/list"})
    if MODE == "hang-start" or (MODE == "hang-list" and message["method"] != "initialize"):
        time.sleep(300)
    if "method" in message and MODE != "stay":
        answer(message.get("id"), message["method"], message.get("params", {}))
if MODE in ("log", "stay"):
    note("ends")
if MODE == "stay":
    time.sleep(300)
