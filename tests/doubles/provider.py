"""A provider of sign-in: OpenID Connect, and OAuth 2 as GitHub speaks it, on a thread."""

import hashlib
import json
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, PASSWORD = "arena-client", "the client's secret"
KEY = RSAKey.generate_key(2048, {"kid": "k1"}, auto_kid=False)


class Provider:
    """What the provider says, which a test may change, and who gets a code."""

    def __init__(self):
        self.address = ""
        self.codes = {}
        self.claims = {}
        """What stands in ID tokens in place of the truth; None leaves a claim out."""
        self.header = {"alg": "RS256", "kid": "k1"}
        self.key = KEY
        self.answers = {}
        """What a path answers in place of the truth: a status and a body."""

    def consent(self, address, person="rosa", subject="42"):
        """A person agrees on the page of an address; returns the path and query to which the browser comes back."""
        asked = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_hex(8)
        self.codes[code] = asked | {"person": person, "subject": subject}
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state']})}"

    def answer(self, path, headers, form):
        if path in self.answers:
            return self.answers[path]
        match path:
            case "/.well-known/openid-configuration":
                names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                ends = ("authorize", "token", "keys")
                places = {
                    name: f"{self.address}/{end}" for name, end in zip(names, ends, strict=True)
                }
                return 200, {"issuer": self.address} | places
            case "/keys":
                return 200, {"keys": [KEY.as_dict(private=False)]}
            case "/token":
                return self._token(headers, form)
            case "/user":
                person = self.codes[headers["Authorization"].removeprefix("Bearer ")]
                return 200, {"id": int(person["subject"]), "login": person["person"]}
        return 404, {}

    def _token(self, headers, form):
        given = form.get("client_id"), form.get("client_secret")
        if authorization := headers.get("Authorization", ""):
            words = b64decode(authorization.removeprefix("Basic ")).decode().split(":")
            given = tuple(unquote(word) for word in words)
        asked = self.codes.get(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            given != (CLIENT, PASSWORD)
            or asked is None
            or asked.pop("code_challenge", "") != challenge
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant", "error_description": "<b>no</b>"}
        now = int(time.time())
        claims = {
            "iss": self.address,
            "sub": asked["subject"],
            "aud": CLIENT,
            "exp": now + 60,
            "iat": now,
            "nonce": asked.get("nonce"),
            "preferred_username": asked["person"],
        } | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.header["alg"] == "none":
            parts = (urlsafe_b64encode(json.dumps(part).encode()) for part in (self.header, claims))
            token = ".".join([part.decode().rstrip("=") for part in parts] + [""])
        else:
            token = jwt.encode(self.header, claims, self.key, algorithms=["RS256", "HS256"])
        return 200, {"access_token": form["code"], "token_type": "Bearer", "id_token": token}


@contextmanager
def provider():
    """A provider that answers while the block runs."""
    it = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            form = {name: value for name, (value,) in parse_qs(body).items()}
            status, answer = it.answer(urlsplit(self.path).path, self.headers, form)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        it.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield it
        finally:
            server.shutdown()
            thread.join()


def providers_file(address):
    """The organiser's file: the provider in both of its languages."""
    client = f'client_id = "{CLIENT}"\nclient_secret = "{PASSWORD}"\n'
    return (
        f'[campus]\ntitle = "Campus login"\nissuer = "{address}"\n{client}'
        f'[git]\ntitle = "Git host"\nauthorize = "{address}/authorize"\n'
        f'token = "{address}/token"\nuser = "{address}/user"\n{client}'
    )
