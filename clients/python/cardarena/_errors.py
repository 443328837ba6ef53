"""Errors that end a bot's play, one class for each cure."""


class PlayError(Exception):
    """An error that ended play: the class of all errors below."""


class Refused(PlayError):
    """The arena refuses this bot for good, for instance because its token is unknown, or another bot has connected with it."""


class Unreachable(PlayError):
    """The arena could not be reached within the time for attempts."""


class Lied(PlayError):
    """The arena lied about its deals. The text has each failed check on a line.

    It is raised after play, because the bot continues to play.
    """

    def __init__(self, *lies: str) -> None:
        super().__init__("\n".join(lies))
        self.lies = lies
        """The failed checks, in sentences."""


class Misconfigured(PlayError):
    """The bot cannot play as it is, or its settings for the connection are wrong or unsafe."""


class NoMove(Exception):
    """The bot has no move, and its text tells the owner why: it is shown without a place in code, because the code has no error."""


class Unreadable(Exception):
    """The arena sent bytes that are no message of the play stream."""
