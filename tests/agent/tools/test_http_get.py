from __future__ import annotations

import asyncio
import gzip
import sys
import time
from collections.abc import Callable, Iterator
from threading import Thread

import httpx2
import pytest

from cub.agent.tools.http_get import (
    MAX_BYTES,
    WebText,
    get_text_over_http,
    parse_web_host,
    read_text_response,
)
from cub.agent.tools.tool_arguments import ToolError
from cub.errors import CubError
from cub.installation import find_installation
from cub.processes.command import StopRequest
from tests.agent.tools.pages import Page, serve_pages


@pytest.fixture
def stop() -> Iterator[StopRequest]:
    request = StopRequest()
    yield request
    request.close()


@pytest.fixture
def get(stop: StopRequest) -> Callable[..., WebText]:
    def get_page(page: Page, seconds: float = 20.0) -> WebText:
        with serve_pages(lambda _: page) as site:
            return get_text_over_http(site.url, stop, seconds=seconds)

    return get_page


def test_a_text_comes_as_it_is(get: Callable[..., WebText]) -> None:
    page = get(Page("straße".encode("latin-1"), "Text/Plain; charset=latin-1"))
    assert page[1:] == ("text/plain", "latin-1", "straße".encode("latin-1"))


def test_parameters_are_added(stop: StopRequest) -> None:
    with serve_pages(lambda _: Page(b"ok")) as site:
        get_text_over_http(f"{site.url}/find", stop, {"q": "a b&c"})
        assert site.requests == ["/find?q=a+b%26c"]


def test_redirects_on_the_same_host_are_followed(stop: StopRequest) -> None:
    pages = {
        "/a": Page(status=302, headers={"Location": "/b"}),
        "/b": Page(status=301, headers={"Location": "c?x=1"}),
        "/c?x=1": Page(b"end"),
    }
    with serve_pages(pages.__getitem__) as site:
        page = get_text_over_http(f"{site.url}/a", stop)
        assert (page.url, page.data) == (f"{site.url}/c?x=1", b"end")


def test_redirects_without_end_are_an_error(stop: StopRequest) -> None:
    page = Page(status=302, headers={"Location": "/"})
    with serve_pages(lambda _: page) as site:
        with pytest.raises(ToolError, match="redirects more than 5 times"):
            get_text_over_http(site.url, stop)
        assert len(site.requests) == 6


@pytest.mark.parametrize(
    "place",
    [
        "http://localhost/x",
        "http://169.254.169.254/latest/meta-data/",
        "//evil.example/",
        "file:///etc/passwd",
        "http://127.0.0.1@evil.example/",
        "http://127.0.0.1.evil.example/",
    ],
)
def test_a_redirect_to_another_host_is_reported(get: Callable[..., WebText], place: str) -> None:
    with pytest.raises(ToolError, match="redirects to"):
        get(Page(status=302, headers={"Location": place}))


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"])
def test_link_local_addresses_are_refused(stop: StopRequest, host: str) -> None:
    with pytest.raises(ToolError, match="link-local"):
        get_text_over_http(f"http://{host}/", stop)


class Peer:
    """The connection of an answer, which came from this address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get_extra_info(self, name: str) -> tuple[str, int]:
        assert name == "server_addr"
        return self.address, 80


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1%eth0", "127.0.0.1"])
def test_a_name_that_leads_to_a_link_local_address_is_refused(address: str) -> None:
    request, extensions = (
        httpx2.Request("GET", "http://a.example"),
        {"network_stream": Peer(address)},
    )
    response = httpx2.Response(200, request=request, text="key", extensions=extensions)
    if address == "127.0.0.1":
        assert asyncio.run(read_text_response(response)).data == b"key"
    else:
        with pytest.raises(ToolError, match="link-local"):
            asyncio.run(read_text_response(response))


def test_the_peer_of_an_answer_is_known() -> None:
    # The check of a peer depends on it.
    with serve_pages(lambda _: Page(b"ok")) as site, httpx2.stream("GET", site.url) as response:
        assert response.extensions["network_stream"].get_extra_info("server_addr")[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "media_type", ["image/png", "application/octet-stream", "application/pdf", "font/woff2", ""]
)
def test_what_is_not_text_is_refused(get: Callable[..., WebText], media_type: str) -> None:
    with pytest.raises(ToolError, match="is not text but"):
        get(Page(b"\0\1", media_type))


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/ld+json", "image/svg+xml", "application/xml", None],
)
def test_more_than_text_types_are_text(get: Callable[..., WebText], media_type: str | None) -> None:
    assert get(Page(b"{}", media_type)).data == b"{}"


@pytest.mark.parametrize(
    ("status", "reason"), [(404, "404 Not Found"), (500, "500 Internal Server Error")]
)
def test_an_error_of_a_server_is_an_error(
    get: Callable[..., WebText], status: int, reason: str
) -> None:
    with pytest.raises(ToolError, match=reason):
        get(Page(b"sorry", status=status))


def test_a_packed_text_is_unpacked(get: Callable[..., WebText]) -> None:
    page = Page(gzip.compress(b"text" * 1000), headers={"Content-Encoding": "gzip"})
    assert get(page).data == b"text" * 1000


def test_a_huge_text_is_cut(get: Callable[..., WebText]) -> None:
    assert len(get(Page(b"x" * (MAX_BYTES + 1_000_000))).data) == MAX_BYTES
    bomb = gzip.compress(b"x" * (MAX_BYTES * 4))
    assert len(get(Page(bomb, headers={"Content-Encoding": "gzip"})).data) == MAX_BYTES


def test_broken_packing_is_an_error(get: Callable[..., WebText]) -> None:
    with pytest.raises(ToolError, match="can't be read"):
        get(Page(b"no gzip", headers={"Content-Encoding": "gzip"}))


def test_a_server_that_does_not_finish_is_an_error(get: Callable[..., WebText]) -> None:
    with pytest.raises(ToolError, match=r"did not answer in 0\.2 seconds"):
        get(Page(b"begin", hangs=True), seconds=0.2)


def test_a_stop_ends_the_wait(stop: StopRequest) -> None:
    with serve_pages(lambda _: Page(b"begin", hangs=True)) as site:

        def stop_when_asked() -> None:
            site.is_asked.wait(20)
            stop.request()

        thread = Thread(target=stop_when_asked)
        thread.start()
        start = time.monotonic()
        with pytest.raises(ToolError, match="stopped by the user"):
            get_text_over_http(site.url, stop)
        assert time.monotonic() - start < 10
        thread.join()


def test_a_server_that_is_not_there_is_an_error(stop: StopRequest) -> None:
    with serve_pages(lambda _: Page()) as site:
        pass
    with pytest.raises(ToolError, match="can't be read"):
        get_text_over_http(site.url, stop)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.com", "example.com"),
        ("HTTPS://Example.COM:8080/path?q=ü#x", "example.com"),
        ("https://example.com.", "example.com"),
        ("http://[::1]:80/", "[::1]"),
        ("http://localhost?x", "localhost"),
        ("http://user@example.com/", ""),
        ("http://good.example\\@evil.example/", ""),
        ("http://good.example%2f@evil.example/", ""),
        ("http://\uff45xample.com/", ""),
        ("http://münchen.example/", ""),
        ("http://example.com /", ""),
        ("http://example.com\n/", ""),
        ("//example.com/", ""),
        ("ftp://example.com/", ""),
        ("file:///etc/passwd", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_only_plain_addresses_have_a_host(stop: StopRequest, url: str, host: str) -> None:
    assert parse_web_host(url) == host
    if not host:
        with pytest.raises(ToolError, match="is not a web address"):
            get_text_over_http(url, stop)


def test_a_socks_proxy_needs_a_package(stop: StopRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ToolError, match="SOCKS proxy"):
        get_text_over_http("http://127.0.0.1:9/", stop)


def test_a_missing_extra_is_an_error(stop: StopRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(CubError, match="httpx2 is not installed") as caught:
        get_text_over_http("http://127.0.0.1:9/", stop)
    assert find_installation().suggest_extra("agent") in caught.value.hint
