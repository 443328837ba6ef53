"""A browser without a browser: cookies, pages and forms of the acting process, asked in process."""

import asyncio
import re
from html import unescape
from urllib.parse import quote, unquote, urlencode, urlsplit

import grpc

from arena.web.acting.arena_calls import SiteCalls
from arena.web.acting.process import application
from arena.web.acting.visits import SCHEME, SECRET, VISITOR

KEY = "k" * 32
"""What comes with each request that was forwarded."""


class Acting:
    """The acting process of an arena, in this one."""

    def __init__(self, address):
        self.runner = asyncio.Runner()
        self.now_s = 0.0

        async def begin():
            self._channel = grpc.aio.insecure_channel(address)
            self._uploads = grpc.insecure_channel(address)
            return application(SiteCalls(self._channel, self._uploads), KEY, lambda: self.now_s)

        self.app = self.runner.run(begin())

    def close(self):
        self.runner.run(self._channel.close())
        self._uploads.close()
        self.runner.close()

    def browser(self, **about):
        return Browser(self, **about)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    @property
    def words(self):
        """What the page says, without its header."""
        main = self.text.partition("<main")[2]
        return " ".join(unescape(re.sub("<[^>]*>", " ", "<" + main)).split())

    def one(self, name):
        """The only header of a name."""
        (value,) = [value for key, value in self.headers if key == name]
        return value

    def all(self, name):
        return [value for key, value in self.headers if key == name]


class Browser:
    """One person's browser."""

    def __init__(self, acting, scheme="https", visitor="192.0.2.7", host="arena.example"):
        self._acting = acting
        self.scheme, self.visitor, self.host = scheme, visitor, host
        self.cookies = {}

    @property
    def origin(self):
        return f"{self.scheme}://{self.host}"

    def get(self, path):
        return self._ask("GET", path, {}, b"")

    def post(self, path, fields=(), *, page="/signin", token=None, headers=(), files=()):
        """Send a form: that of `page`, if no other token is given. None leaves out a header."""
        token = self.form_token(page) if token is None else token
        fields = [("form_token", token), *dict(fields).items()]
        if files:
            body, media = multipart(fields, files)
        else:
            body, media = urlencode(fields).encode(), "application/x-www-form-urlencoded"
        about = {"content-type": media, "origin": self.origin} | dict(headers)
        return self._ask("POST", path, about, body)

    def form_token(self, page="/signin"):
        return form_token(self.get(page))

    def sign_in(self, key):
        answer = self.post("/signin", {"key": key})
        assert answer.status == 303, answer.words
        return answer

    def _ask(self, method, path, headers, body):
        parts = urlsplit(path)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        about = {
            SECRET: KEY,
            VISITOR: self.visitor,
            SCHEME: self.scheme,
            "host": self.host,
            "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "cookie": cookies,
        } | headers
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": quote(parts.path).encode(),
            "query_string": parts.query.encode(),
            "headers": [(n.encode(), v.encode()) for n, v in about.items() if v is not None],
            "client": None,
            "server": ("acting", None),
            "root_path": "",
        }
        sent = []
        pieces = [body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""]

        async def receive():
            piece = pieces.pop(0) if pieces else b""
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message):
            sent.append(message)

        self._acting.runner.run(self._acting.app(scope, receive, send))
        begun, *rest = sent
        given = [(name.decode(), value.decode()) for name, value in begun["headers"]]
        answer = Answer(begun["status"], given, b"".join(each.get("body", b"") for each in rest))
        for cookie in answer.all("set-cookie"):
            name, _, value = cookie.partition(";")[0].partition("=")
            if "Max-Age=0" in cookie:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer


def form_token(answer):
    return re.search(r'name="form_token" value="([0-9a-f]*)"', answer.text)[1]


def multipart(fields, files):
    """A body with files: a list of the field, the file's name and its content."""
    parts = [(f'name="{name}"', value.encode()) for name, value in fields]
    parts += [(f'name="{field}"; filename="{name}"', content) for field, name, content in files]
    body = b"".join(
        b"--edge\r\nContent-Disposition: form-data; %b\r\n\r\n%b\r\n" % (about.encode(), content)
        for about, content in parts
    )
    return body + b"--edge--\r\n", "multipart/form-data; boundary=edge"
