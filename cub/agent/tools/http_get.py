"""Get a text over HTTP: bounded in time and size, from the host that was asked for alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, NamedTuple

from cub import __version__
from cub.agent.model_failures import require_package
from cub.agent.tools.tool_arguments import ToolError
from cub.processes.command import StopRequest

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 5_000_000
MAX_REDIRECTS = 5
SECONDS = 30.0
# Whatever programs may read in different ways is left out: a name before the host, a backslash,
# letters that are replaced with others. So a rule about a host holds for the one that is asked.
_WEB_ADDRESS = re.compile(
    r"https?://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:[/?#][^\s\\]*)?",
    re.ASCII | re.IGNORECASE,
)
_TEXT_TYPE = re.compile(r"text/.+|[^/]+/(?:.+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-ndjson)")


class WebText(NamedTuple):
    """Hold a text as it came; `url` is where redirects led, `charset` is "" if it is not said."""

    url: str
    media_type: str
    charset: str
    data: bytes


def parse_web_host(url: str) -> str:
    """Return the host of an http(s) address in lower case; "" if it is not a plain one."""
    match = _WEB_ADDRESS.fullmatch(url)
    return match["host"].lower().rstrip(".") if match else ""


def get_text_over_http(
    url: str,
    stop: StopRequest,
    params: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> WebText:
    """Return the text at an address; `params` are added to it. A requested `stop` ends the wait.

    Raises ToolError if there is none, and CubError if the extra is not installed.
    """
    if not parse_web_host(url):
        hint = "use http:// or https://, a host in ASCII, and no user name"
        raise ToolError(f"{url} is not a web address", hint=hint)
    require_package("httpx2", "{} is not installed")
    import asyncio

    import httpx2

    try:
        return asyncio.run(_get_or_stop(url, stop, params, seconds))
    except TimeoutError as error:
        raise ToolError(f"{url} did not answer in {seconds:g} seconds") from error
    except httpx2.TooManyRedirects as error:
        raise ToolError(f"{url} redirects more than {MAX_REDIRECTS} times") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ImportError) as error:  # SOCKS needs a package
        reason = str(error) or type(error).__name__
        raise ToolError(f"{url} can't be read: {reason}") from error


async def _get_or_stop(
    url: str, stop: StopRequest, params: Mapping[str, str] | None, seconds: float
) -> WebText:
    import asyncio

    loop = asyncio.get_running_loop()
    request = asyncio.create_task(_get(url, params))
    loop.add_reader(stop.fileno(), request.cancel)
    try:
        async with asyncio.timeout(seconds):
            return await request
    except asyncio.CancelledError:
        if not stop.is_requested:
            raise
        raise ToolError(f"{url} was not read: stopped by the user") from None
    finally:
        loop.remove_reader(stop.fileno())


async def _get(url: str, params: Mapping[str, str] | None) -> WebText:
    import httpx2

    async def refuse_other_host(request: httpx2.Request) -> None:
        # A person has agreed to the host that was asked for, and to no other.
        if parse_web_host(str(request.url)) != parse_web_host(url):
            hint = "if you need it, ask for that address"
            raise ToolError(f"{url} redirects to {request.url}", hint=hint)
        _refuse_link_local(request.url.host)

    async with (
        httpx2.AsyncClient(
            headers={
                "User-Agent": f"cub/{__version__}",
                "Accept": "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5",
            },
            timeout=None,  # the whole of it has a limit
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            event_hooks={"request": [refuse_other_host]},
        ) as client,
        client.stream("GET", url, params=params) as response,
    ):
        return await read_text_response(response)


def _refuse_link_local(host: str) -> None:
    """Raise ToolError for addresses at which clouds give their machines credentials.

    Nothing else that a model may want to read is there; the loopback address has documentation.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if (mapped or address).is_link_local:
        raise ToolError(f"{host} is a link-local address, which is not read")


async def read_text_response(response: httpx2.Response) -> WebText:
    """Return the text of an answer; ToolError if it has none, or is from a link-local address."""
    stream = response.extensions.get("network_stream")
    if peer := stream and stream.get_extra_info("server_addr"):
        _refuse_link_local(str(peer[0]))
    if response.status_code >= 400:
        raise ToolError(f"{response.url} answered {response.status_code} {response.reason_phrase}")
    media_type = response.headers.get("content-type", "text/plain").partition(";")[0].strip()
    if not _TEXT_TYPE.fullmatch(media_type.lower()):
        hint = "use Bash to download it, as with curl --output"
        raise ToolError(f"{response.url} is not text but {media_type or 'unknown'}", hint=hint)
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_BYTES:
            break
    charset = response.charset_encoding or ""
    return WebText(str(response.url), media_type.lower(), charset, bytes(data[:MAX_BYTES]))
