"""What the store refuses, as it is told to clients: a reason for programs, a sentence for people."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Final

import grpc

from arena.competition.archive import BadArchive
from arena.competition.manifest import BadManifest
from arena.competition.versions import NotNow
from arena.server.refusals import Refused
from arena.server.submissions.desk import NotRemote, TooManyTokens
from arena.store import NameTaken, StoreError
from arena.store.registry import (
    Banned,
    NotInvited,
    OverQuota,
    SubmittedBefore,
    TooManyBots,
    UnknownBot,
    UnknownOwner,
    UnknownVersion,
)

RETRY_S: Final = 5.0
"""After which a store that is locked or away may be back."""

_log = logging.getLogger(__name__)
_Code = grpc.StatusCode

REFUSALS: Final[Mapping[type[Exception], tuple[grpc.StatusCode, str]]] = {
    BadArchive: (_Code.INVALID_ARGUMENT, "BAD_ARCHIVE"),
    BadManifest: (_Code.INVALID_ARGUMENT, "BAD_MANIFEST"),
    Banned: (_Code.PERMISSION_DENIED, "BANNED"),
    NameTaken: (_Code.ALREADY_EXISTS, "NAME_TAKEN"),
    NotInvited: (_Code.PERMISSION_DENIED, "BAD_CODE"),
    NotNow: (_Code.FAILED_PRECONDITION, "NOT_NOW"),
    NotRemote: (_Code.FAILED_PRECONDITION, "NOT_REMOTE"),
    OverQuota: (_Code.RESOURCE_EXHAUSTED, "OVER_QUOTA"),
    SubmittedBefore: (_Code.ALREADY_EXISTS, "SUBMITTED_BEFORE"),
    TooManyBots: (_Code.RESOURCE_EXHAUSTED, "TOO_MANY_BOTS"),
    TooManyTokens: (_Code.RESOURCE_EXHAUSTED, "TOO_MANY_TOKENS"),
    UnknownBot: (_Code.NOT_FOUND, "UNKNOWN_BOT"),
    UnknownOwner: (_Code.NOT_FOUND, "UNKNOWN_OWNER"),
    UnknownVersion: (_Code.NOT_FOUND, "UNKNOWN_VERSION"),
}
"""Whose sentences were written for clients. Any other tells of files, and stays inside."""


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Turn what the store refuses into what a client is told.

    Raises:
      Refused: with the reason that stands in the table; UNAVAILABLE if the store itself fails.
    """
    try:
        yield
    except tuple(REFUSALS) as error:
        code, reason = REFUSALS[type(error)]
        retry_s = error.retry_after_ms / 1000 if isinstance(error, OverQuota) else 0.0
        raise Refused(code, reason, str(error), retry_s=retry_s) from error
    except StoreError as error:
        _log.warning("the store failed a call", extra={"why": str(error)})
        text = "the arena cannot use its store just now"
        raise Refused(_Code.UNAVAILABLE, "STORE_AWAY", text, retry_s=RETRY_S) from error
