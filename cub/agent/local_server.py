"""Find out whether a model server on this machine answers, has a model, and how much it reads."""

from __future__ import annotations

import ipaddress
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from cub.agent.model import ModelEndpoint, ModelError
from cub.json_values import (
    JsonObject,
    get_count,
    get_object,
    get_text,
    list_objects,
    parse_object,
)
from cub.text import suggest_similar

_SECONDS = 1.0
_MAX_LIST_BYTES = 1 << 20
_MAX_NAMED = 5
# Of Ollama, of LM Studio, and of llama.cpp.
_WINDOW_PATHS = ("/api/ps", "/api/v0/models", "/props")
_WINDOW_KEYS = (
    "context_length", "loaded_context_length", "max_model_len", "n_ctx", "max_context_length",
)  # fmt: skip
_PORTS = {"http": 80, "https": 443}


def check_local_server(endpoint: ModelEndpoint, start: str = "", *, lists_models: bool) -> None:
    """Raise ModelError if a server on this machine refuses connections, or lacks the model.

    Servers elsewhere are not asked. `start` is the command that starts this one; only a server that
    `lists_models` is asked for their names. A server that is slow, or has no such list, passes.
    """
    connection = _find_local_server(endpoint.base_url)
    if connection is None:
        return
    try:
        connection.connect()
    except TimeoutError:
        return
    except OSError as error:
        first = f"start it (`{start}`)" if start else "start it"
        hint = f"{first}, or set `code.base_url` if it has another address"
        message = f"can't reach the model server at {endpoint.base_url}"
        raise ModelError(message, "service", hint=hint) from error
    with closing(connection):
        names = _list_models(connection, endpoint) if lists_models else []
    if names and not {endpoint.model, f"{endpoint.model}:latest"} & {*names}:
        similar = suggest_similar(endpoint.model, names)
        named = ", ".join(names[:_MAX_NAMED]) + ", …" * (len(names) > _MAX_NAMED)
        hint = f"did you mean {similar}?" if similar else f"choose from {named}"
        message = f"the model server at {endpoint.base_url} has no model {endpoint.model!r}"
        raise ModelError(message, "request", hint=hint)


def find_local_window(endpoint: ModelEndpoint) -> int | None:
    """Return how many tokens a server on this machine lets a model read; None if it doesn't say.

    Ollama knows that once the model is loaded; vLLM, LM Studio, and llama.cpp do from the start.
    """
    connection = _find_local_server(endpoint.base_url)
    if connection is None:
        return None
    names = {endpoint.model, f"{endpoint.model}:latest"}
    with closing(connection):
        for path in (*_WINDOW_PATHS, f"{urlsplit(endpoint.base_url).path.rstrip('/')}/models"):
            tree = _get_json(connection, path, endpoint)
            rows = (*list_objects(tree, "data"), *list_objects(tree, "models"))
            own = [row for row in rows if names & {get_text(row, "id"), get_text(row, "name")}]
            for row in (*own, get_object(tree, "default_generation_settings")):
                if sizes := [size for key in _WINDOW_KEYS if (size := get_count(row, key))]:
                    return sizes[0]
    return None


def _find_local_server(base_url: str) -> HTTPConnection | None:
    """Return a connection to an address on this machine, not open yet; None for others."""
    try:
        address = urlsplit(base_url)
        host = address.hostname or ""
        port = address.port or _PORTS.get(address.scheme)
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, or a port that is not a number
        return None
    return HTTPConnection(host, port, timeout=_SECONDS) if is_local and port else None


def _list_models(connection: HTTPConnection, endpoint: ModelEndpoint) -> list[str]:
    """Return the names that the server lists; [] if it has no such list."""
    path = f"{urlsplit(endpoint.base_url).path.rstrip('/')}/models"
    tree = _get_json(connection, path, endpoint)
    return [name for item in list_objects(tree, "data") if (name := get_text(item, "id"))]


def _get_json(connection: HTTPConnection, path: str, endpoint: ModelEndpoint) -> JsonObject:
    """Return what the server answers; {} for anything but an object."""
    # The key must not be sent to the port of HTTPS in clear.
    if urlsplit(endpoint.base_url).scheme != "http":
        return {}
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        data = response.read(_MAX_LIST_BYTES)
        return parse_object(data) if response.status == 200 else {}
    except (OSError, HTTPException, ValueError):  # the last for a key that is none
        connection.close()
        return {}
