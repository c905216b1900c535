"""Find out whether a model server on this machine answers, and has a model."""

from __future__ import annotations

import ipaddress
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from cub.agent.model import ModelEndpoint, ModelError
from cub.json_values import get_text, list_objects, parse_object
from cub.text import suggest_similar

_SECONDS = 1.0
_MAX_LIST_BYTES = 1 << 20
_MAX_NAMED = 5
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
    address = urlsplit(endpoint.base_url)
    if address.scheme != "http":  # the key must not be sent to the port of HTTPS in clear
        return []
    path = f"{address.path.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        tree = parse_object(response.read(_MAX_LIST_BYTES)) if response.status == 200 else {}
    except (OSError, HTTPException):
        return []
    return [name for item in list_objects(tree, "data") if (name := get_text(item, "id"))]
