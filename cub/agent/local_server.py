"""Find out whether a model server on this machine answers, has a model, and how much it reads."""

from __future__ import annotations

import ipaddress
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from urllib.parse import urljoin, urlsplit

from cub.agent.model import ModelEndpoint, ModelError
from cub.json_values import (
    JsonObject,
    get_count,
    get_object,
    get_text,
    list_objects,
    parse_object,
)
from cub.text import suggest_known

_SECONDS = 1.0
_MAX_LIST_BYTES = 1 << 20
# Of Ollama, of LM Studio, of llama.cpp, and of others.
_WINDOW_PATHS = ("/api/ps", "/api/v0/models", "/props", "models")
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
        tree = _get_json(connection, "models", endpoint) if lists_models else {}
    names = [name for item in list_objects(tree, "data") if (name := get_text(item, "id"))]
    if names and not {endpoint.model, f"{endpoint.model}:latest"} & {*names}:
        message = f"the model server at {endpoint.base_url} has no model {endpoint.model!r}"
        raise ModelError(message, "request", hint=suggest_known(endpoint.model, names))


def find_local_window(endpoint: ModelEndpoint) -> int | None:
    """Return how many tokens a server on this machine lets a model read; None if it doesn't say.

    Ollama knows that once the model is loaded; vLLM, LM Studio, and llama.cpp do from the start.
    """
    connection = _find_local_server(endpoint.base_url)
    if connection is None:
        return None
    names = {endpoint.model, f"{endpoint.model}:latest"}
    with closing(connection):
        for path in _WINDOW_PATHS:
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


def _get_json(connection: HTTPConnection, path: str, endpoint: ModelEndpoint) -> JsonObject:
    """Return what the server answers at a path, below its address if relative; {} if no object."""
    address = urlsplit(endpoint.base_url)
    if address.scheme != "http":  # the key must not be sent to the port of HTTPS in clear
        return {}
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        connection.request("GET", urljoin(f"{address.path.rstrip('/')}/", path), headers=headers)
        response = connection.getresponse()
        data = response.read(_MAX_LIST_BYTES)
        return parse_object(data) if response.status == 200 else {}
    except (OSError, HTTPException, ValueError):  # the last for a key that is none
        connection.close()
        return {}
