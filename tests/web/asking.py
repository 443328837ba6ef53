"""Asks an ASGI application without a socket, one request after the other on a loop of its own."""

import asyncio
import contextlib
import gzip
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

from arena.web.app import Web, application
from arena.web.live_pages import LivePages


@dataclass
class Answer:
    status_code: int
    headers: dict
    content: bytes

    @property
    def text(self):
        return self.content.decode("utf-8")

    def json(self):
        return json.loads(self.content)


class Client:
    """Keeps a loop, as what is live stands on one."""

    def __init__(self, app):
        self._app = app
        self._runner = asyncio.Runner()

    def close(self):
        self._runner.close()

    def run(self, coroutine):
        return self._runner.run(coroutine)

    def get(self, path, headers=None, *, follow_redirects=True):
        found = self.request("GET", path, headers)
        if follow_redirects and found.status_code in (302, 307):
            return self.get(urljoin(path, found.headers["location"]), headers)
        return found

    def request(self, method, path, headers=None, body=b""):
        return self._runner.run(
            self._ask(method, path, {"accept-encoding": "gzip"} | (headers or {}), body)
        )

    async def _ask(self, method, path, headers, body):
        parts = urlsplit(path)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("192.0.2.1", 5),
            "server": ("127.0.0.1", 80),
            "root_path": "",
        }
        sent = []
        requests = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive():
            request = next(requests, None)
            if request is None:
                await asyncio.Event().wait()  # it stays, until it has its answer
            return request

        async def send(message):
            sent.append(message)

        await self._app(scope, receive, send)
        begun, *pieces = sent
        given = {name.decode(): value.decode() for name, value in begun["headers"]}
        content = b"".join(each.get("body", b"") for each in pieces)
        if given.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        return Answer(begun["status"], given, content)


@contextlib.contextmanager
def site(folder, hub=None, only="", *, organiser=False, **given):
    """The pages of a folder, as somebody asks for them, and what makes them."""
    with ThreadPoolExecutor(1) as workers:
        web = Web(folder, workers=workers, only=only, organiser=organiser, **given)
        routes = () if hub is None else LivePages(web, hub).routes()
        client = Client(application(web, routes))
        try:
            yield client, web
        finally:
            client.close()
            web.close()


def text_of(client, path):
    """The text of a page, with a space between its cells."""
    text = re.sub(r'<(span|caption) class="hidden">.*?</\1>', "", client.get(path).text)
    return " ".join(unescape(re.sub("<[^>]*>", " ", text.partition('<main id="main">')[2])).split())
