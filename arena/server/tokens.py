"""Who a token belongs to."""

import re
from typing import Final

import grpc

from arena.server.refusals import Refused
from arena.server.session import BotId

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,31}")
"""What a bot's name looks like: ASCII, so that no two names look alike."""
GUEST: Final = "guest:"
"""A token that says nothing but a name, where guests are let in."""


class Tokens:
    """The tokens of an arena, and whether guests are let in."""

    def __init__(self, *, guests: bool = False) -> None:
        self._bots: dict[str, BotId] = {}
        self._guests = guests

    def add(self, token: str, bot: BotId) -> None:
        """Let the bot in with this token."""
        self._bots[token] = bot

    def bot(self, token: str) -> BotId:
        """Whose token it is.

        Raises:
          Refused: if it is nobody's, or a guest's name is not one.
        """
        known = self._bots.get(token)
        if known is not None:
            return known
        if self._guests and token.startswith(GUEST):
            name = token.removeprefix(GUEST)
            if any(bot.name == name for bot in self._bots.values()):
                text = f"the name {name!r} is a bot's that has a token"
                raise Refused(grpc.StatusCode.UNAUTHENTICATED, "NAME_TAKEN", text)
            if NAME.fullmatch(name):
                return BotId(name)
            text = (
                "a name has 1 to 32 letters, digits, spaces, dots, dashes or underscores"
                " and begins with a letter or digit"
            )
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, "BAD_NAME", text)
        text = "the token is unknown"
        raise Refused(grpc.StatusCode.UNAUTHENTICATED, "UNKNOWN_TOKEN", text)
