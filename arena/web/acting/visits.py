"""Visits: the visitors of requests, the cookies of sign-in sessions, and the tokens of forms.

A form carries a token that follows from two cookies, which a page of another site can neither read nor set. A sign-in
makes a new session, with which all earlier tokens of forms become invalid.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from arena.api.admission.http_connections import is_this_machine
from arena.api.admission.own_names import names_this_machine

SECRET: Final = "x-arena-secret"  # noqa: S105 - the name of a header, as are the next two
VISITOR: Final = "x-arena-visitor"
SCHEME: Final = "x-arena-scheme"
FORM_TOKEN: Final = "form_token"  # noqa: S105 - the name of a field
MOST_BODY_BYTES: Final = 52 << 20
"""The longest body of a request: the largest archive of a bot, and the rest of a form."""
HOME: Final = "/me"
"""The page after a sign-in without another one."""
_TOKEN: Final = re.compile(r"arena_[0-9A-Za-z]{49}")
_SEED: Final = re.compile(r"[0-9a-f]{32}")
_PATH: Final = re.compile(r"/[A-Za-z0-9~_.-][A-Za-z0-9~_./-]{0,199}")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a visitor."""

    visitor: str
    """The address, as `visitor_of` returns it."""
    is_https: bool
    is_private: bool
    """Whether the request is confidential: it came by TLS, or from this machine under a name of this machine."""
    origin: str
    """The origin of the site, as the browser names it."""
    session: str = ""
    """The token of the sign-in session; empty for none."""
    form_seed: str = ""
    """The cookie from which tokens of forms are derived; a browser keeps it during a visit."""
    is_new: bool = False
    """Whether the browser does not have that cookie yet."""

    @classmethod
    def of(cls, request: Request) -> "Visit":
        """Return the visit of a forwarded request."""
        scheme, visitor = request.headers[SCHEME], request.headers[VISITOR]
        is_https = scheme == "https"
        local = is_this_machine(visitor) and names_this_machine(request.scope)
        visit = cls(
            visitor, is_https, is_https or local, f"{scheme}://{request.headers.get('host', '')}"
        )
        session, seed = (
            request.cookies.get(visit._name("session"), ""),
            request.cookies.get(visit._name("forms"), ""),
        )
        known = _SEED.fullmatch(seed) is not None
        return replace(
            visit,
            session=session if _TOKEN.fullmatch(session) and visit.is_private else "",
            form_seed=seed if known else secrets.token_hex(16),
            is_new=not known,
        )

    def _name(self, cookie: str) -> str:
        """Return the name of a cookie. Browsers accept `__Host-` only over TLS, and then from no other host."""
        return f"__Host-{cookie}" if self.is_https else cookie

    @property
    def form_token(self) -> str:
        """The token of forms that are sent in this session."""
        return hmac.new(self.form_seed.encode(), self.session.encode(), hashlib.sha256).hexdigest()

    def is_own_form(self, form_token: str) -> bool:
        """Return whether a form has the token of this session."""
        return not self.is_new and hmac.compare_digest(
            form_token.encode(), self.form_token.encode()
        )

    def is_own_page(self, request: Request) -> bool:
        """Return whether a request was sent by a page of this site, according to the browser."""
        origin = request.headers.get("origin", "null")
        if origin != "null":
            return origin == self.origin
        return request.headers.get("sec-fetch-site") == "same-origin"

    def remember(self, response: Response) -> None:
        """Set the cookie of forms, if the browser lacks it."""
        if self.is_new:
            self._set(response, "forms", self.form_seed, None)

    def begin(self, response: Response, session: str, lasts_s: int) -> None:
        self._set(response, "session", session, lasts_s)

    def end(self, response: Response) -> None:
        self._set(response, "session", "", 0)

    def _set(self, response: Response, name: str, value: str, lasts_s: int | None) -> None:
        response.set_cookie(
            self._name(name),
            value,
            lasts_s,
            path="/",
            secure=self.is_https,
            httponly=True,
            samesite="lax",
        )


def is_forwarded(request: Request, secret: str) -> bool:
    """Return whether a request came from the process of the pages, which is the only one with the secret."""
    given = request.headers.get(SECRET, "")
    return hmac.compare_digest(given.encode(), secret.encode())


def own_path(text: str) -> str:
    """Return a path of this site; `HOME` for any other text, such as an address of another site."""
    return text if _PATH.fullmatch(text) else HOME
