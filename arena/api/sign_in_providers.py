"""Providers with which people sign in: GitHub, and others that speak OpenID Connect or OAuth 2.

An organiser names them in the file `sign-in.toml` of the data folder. The arena itself exchanges the code that a browser
brings back (authorization code flow with PKCE, RFC 7636) and checks the ID token (OpenID Connect Core 1.0, section
3.1.3.7). So the process of the pages has no secret, and cannot claim an identity. A sign-in in progress is not stored: the `state` of an address and the proof of an identity carry an authentication code of this
process, so a restart ends them.
"""

import contextlib
import hashlib
import hmac
import json
import logging
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import urlsplit

from arena.errors.refused import Refused
from arena.validation import (
    NOT_EMPTY,
    STRICT,
    Constraint,
    InvalidInput,
    Limits,
    toml_values,
    validated,
)

FILE: Final = "sign-in.toml"
LASTS_S: Final = 600
"""Seconds for which a state and a proof are valid."""
LEEWAY_S: Final = 60
"""The largest difference in seconds between the clocks of a provider and of the arena."""
ANSWER_S: Final = 10.0
"""The longest time of a request to a provider, in seconds."""
AT_ONCE: Final = 4
"""The maximal number of simultaneous requests to providers, because each occupies a thread."""
ALGORITHMS: Final = ("RS256", "PS256", "ES256", "Ed25519", "EdDSA")
"""The accepted algorithms of ID token signatures."""
_NAME_CHARS: Final = 60

_log = logging.getLogger(__name__)


def _is_address(text: str, _: object) -> str:
    parts = urlsplit(text)
    local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not (parts.hostname and (parts.scheme == "https" or local)):
        raise ValueError("should be an address that begins with https://")
    return text.removesuffix("/")


_Address = Annotated[str, Constraint(_is_address)]
_Text = Annotated[str, Limits(max_length=500), NOT_EMPTY]


@dataclass(frozen=True, slots=True)
class Provider:
    """A table of the file. It has an issuer, or the three addresses of a provider that speaks OAuth 2 alone."""

    __pydantic_config__: ClassVar = STRICT

    client_id: _Text
    client_secret: _Text
    title: Annotated[str, Limits(max_length=_NAME_CHARS)] = ""
    issuer: _Address | None = None
    """The issuer of OpenID Connect: the address below which `/.well-known/openid-configuration` describes the provider."""
    authorize: _Address | None = None
    """The address to which a browser goes to sign in."""
    token: _Address | None = None
    """The address where a code is exchanged."""
    user: _Address | None = None
    """The address that describes an account, in JSON with an `id` and a `login`, as GitHub does."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A person at a provider."""

    hash: bytes
    """SHA-256 of the issuer and the person's id there. No token has this hash."""
    label: str
    """The provider's title and the person's name there."""


_GITHUB: Final = {
    "title": "GitHub",
    "authorize": "https://github.com/login/oauth/authorize",
    "token": "https://github.com/login/oauth/access_token",
    "user": "https://api.github.com/user",
}


def read_providers(text: str) -> Mapping[str, Provider]:
    """Read the text of the file: a table for each provider, by name.

    Raises `InvalidInput` with all problems.
    """
    tables = toml_values(text)
    providers, problems = {}, []
    for name, table in tables.items():
        if not name.replace("-", "").isalnum() or not name.isascii() or not isinstance(table, dict):
            problems.append(f"{name}: should be a table with a name of letters, digits and -")
            continue
        preset = _GITHUB if name == "github" else {"title": name}
        try:
            provider = validated(Provider, preset | table)
        except InvalidInput as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
            continue
        if (provider.issuer is None) == (
            None in (provider.authorize, provider.token, provider.user)
        ):
            problems.append(
                f"{name}: should have `issuer`, or else `authorize`, `token` and `user`"
            )
        providers[name] = provider
    if problems:
        raise InvalidInput(problems)
    return providers


class SignInProviders:
    """The providers of an arena. Calls block on the network; any thread may call."""

    def __init__(
        self, providers: Mapping[str, Provider], now_s: Callable[[], float] = time.time
    ) -> None:
        """`now_s` reads the time since 1970, in seconds."""
        self.titles: Final = {name: provider.title for name, provider in providers.items()}
        self._providers, self._now_s = providers, now_s
        self._secret = secrets.token_bytes(32)
        self._at_once = BoundedSemaphore(AT_ONCE)
        self._described: dict[str, Mapping[str, Any]] = {}
        """What each issuer says of itself."""
        if providers:
            from authlib.integrations.requests_client import OAuth2Session  # an extra

            self._session = OAuth2Session

    def begin(self, name: str, redirect_uri: str, browser: str) -> str:
        """Return the address to which a browser goes to sign in.

        Raises `Refused` if there is no such provider, or it does not answer.
        """
        provider = self._provider(name)
        until = f"{self._now_s() + LASTS_S:.0f}"
        salt = secrets.token_hex(16)
        state = f"{salt}.{until}.{self._code(name, redirect_uri, browser, salt, until)}"
        with self._asked(name):
            described = self._description(provider)
            with self._client(provider, redirect_uri) as client:
                address, _ = client.create_authorization_url(
                    described["authorization_endpoint"],
                    state=state,
                    nonce=self._code("nonce", state),
                    code_verifier=self._code("verifier", state),
                )
        return str(address)

    def finish(self, name: str, redirect_uri: str, browser: str, state: str, code: str) -> Identity:
        """Return who signed in, from what the provider sent back by the browser.

        Raises:
          Refused: if the state has expired or belongs to another browser, or if the provider does
            not confirm the sign-in or does not answer.
        """
        provider = self._provider(name)
        salt, _, rest = state.partition(".")
        until, _, given = rest.partition(".")
        if not hmac.compare_digest(
            given.encode(), self._code(name, redirect_uri, browser, salt, until).encode()
        ):
            raise Refused("NOT_CONFIRMED", "it was begun in another browser")
        self._require_time(until)
        with self._asked(name):
            described = self._description(provider)
            with self._client(provider, redirect_uri) as client:
                answer = client.fetch_token(
                    described["token_endpoint"],
                    code=code,
                    code_verifier=self._code("verifier", state),
                )
                if provider.issuer is None:
                    person = _json(client, described["userinfo_endpoint"])
                    return _identity(provider, str(provider.user), person["id"], person["login"])
            # The provider may change its public keys at any time, so they are requested for each sign-in.
            with self._client(provider, redirect_uri) as client:
                keys = _json(client, described["jwks_uri"])
            claims = _claims(provider, answer, keys, self._code("nonce", state))
            shown = claims.get("preferred_username") or claims.get("email") or claims["sub"]
            return _identity(provider, provider.issuer, claims["sub"], shown)

    def proof(self, identity: Identity, browser: str) -> str:
        """Return a text with which a browser can prove for some minutes who signed in."""
        until = f"{self._now_s() + LASTS_S:.0f}"
        body = urlsafe_b64encode(
            json.dumps([identity.hash.hex(), identity.label, until]).encode()
        ).decode()
        return f"{body}.{self._code('proof', body, browser)}"

    def proven(self, proof: str, browser: str) -> Identity:
        """Return the identity of a proof. Raises `Refused` if it has expired, is another browser's, or is no proof."""
        body, _, given = proof.partition(".")
        if not hmac.compare_digest(given.encode(), self._code("proof", body, browser).encode()):
            raise Refused("NOT_CONFIRMED", "the proof is not of this browser")
        digest, label, until = json.loads(urlsafe_b64decode(body))
        self._require_time(until)
        return Identity(bytes.fromhex(digest), label)

    def _provider(self, name: str) -> Provider:
        provider = self._providers.get(name)
        if provider is None:
            raise Refused("UNKNOWN_PROVIDER", repr(name))
        return provider

    def _code(self, *parts: str) -> str:
        return hmac.new(self._secret, json.dumps(parts).encode(), hashlib.sha256).hexdigest()

    def _require_time(self, until: str) -> None:
        if float(until) < self._now_s():
            raise Refused("NOT_CONFIRMED", "it was begun more than ten minutes ago")

    def _description(self, provider: Provider) -> Mapping[str, Any]:
        """Return the addresses of a provider, by their names in OpenID Connect Discovery."""
        if provider.issuer is None:
            return {
                "authorization_endpoint": provider.authorize,
                "token_endpoint": provider.token,
                "userinfo_endpoint": provider.user,
            }
        known = self._described.get(provider.issuer)
        if known is None:
            with self._client(provider, "") as client:
                known = _json(client, f"{provider.issuer}/.well-known/openid-configuration")
            if known["issuer"].removesuffix("/") != provider.issuer:
                raise ValueError(f"{provider.issuer} calls itself {known['issuer'][:200]}")
            self._described[provider.issuer] = known
        return known

    def _client(self, provider: Provider, redirect_uri: str) -> Any:
        described = self._described.get(provider.issuer or "", {})
        # By Discovery, the default is client_secret_basic.
        methods = described.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        by_header = provider.issuer is not None and "client_secret_basic" in methods
        return self._session(
            provider.client_id,
            provider.client_secret,
            token_endpoint_auth_method="client_secret_basic" if by_header else "client_secret_post",
            scope="openid profile" if provider.issuer else "",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            default_timeout=ANSWER_S,
        )

    @contextlib.contextmanager
    def _asked(self, name: str) -> Iterator[None]:
        """Wrap requests to a provider: problems of its answers are logged, and refused in plain words."""
        from authlib.common.errors import AuthlibBaseError
        from joserfc.errors import JoseError

        if not self._at_once.acquire(blocking=False):
            raise Refused("BUSY", "many people sign in", retry_s=ANSWER_S)
        try:
            yield
        except (AuthlibBaseError, JoseError) as error:
            _log.warning(
                "a provider confirms no sign-in", extra={"provider": name, "why": str(error)}
            )
            raise Refused("NOT_CONFIRMED", self.titles[name]) from error
        # The request failed, or its answer is invalid.
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            _log.warning("a provider of sign-in fails", extra={"provider": name, "why": str(error)})
            raise Refused("PROVIDER_AWAY", self.titles[name], retry_s=ANSWER_S) from error
        finally:
            self._at_once.release()


def _json(client: Any, address: str) -> Any:
    """Return the JSON answer of an address; the request has a token if the client has one."""
    answer = client.request("GET", address, withhold_token=client.token is None)
    answer.raise_for_status()
    return answer.json()


def _claims(
    provider: Provider, answer: Mapping[str, Any], keys: Any, nonce: str
) -> Mapping[str, Any]:
    """Return what an ID token says of a person, after all checks of it."""
    from authlib.oidc.core import CodeIDToken
    from joserfc import jwt
    from joserfc.jwk import KeySet

    token = jwt.decode(answer["id_token"], KeySet.import_key_set(keys), algorithms=ALGORITHMS)
    claims = CodeIDToken(
        token.claims,
        token.header,
        {
            "iss": {"essential": True, "values": [provider.issuer, f"{provider.issuer}/"]},
            "aud": {"essential": True, "value": provider.client_id},
        },
        {
            "client_id": provider.client_id,
            "nonce": nonce,
            "access_token": answer.get("access_token"),
        },
    )
    claims.validate(leeway=LEEWAY_S)
    return dict(claims)


def _identity(provider: Provider, issuer: str, subject: Any, name: Any) -> Identity:
    digest = hashlib.sha256(json.dumps(["identity", issuer, str(subject)]).encode()).digest()
    shown = "".join(filter(str.isprintable, str(name)))[:_NAME_CHARS]
    return Identity(digest, f"{provider.title}: {shown}")
