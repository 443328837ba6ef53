"""What ends a bot's play, told apart by who can do something about it."""


class PlayError(Exception):
    """Play has ended, and not in order: one of those below, so that all can be caught at once."""


class Refused(PlayError):
    """The arena will not play with this bot, and asking again would not help.

    As with an unknown token, or when another bot took over with the same one.
    """


class Unreachable(PlayError):
    """The arena could not be reached for as long as the bot was told to try."""


class Lied(PlayError):
    """The arena was caught at a lie about its deals. The text has every lie on a line.

    It is raised when play is over: a bot that was lied to plays on.
    """

    def __init__(self, *lies: str) -> None:
        super().__init__("\n".join(lies))
        self.lies = lies
        """What it was caught at, a sentence each."""


class Misconfigured(PlayError):
    """The bot cannot play as it is, or was told to connect in a way that cannot work or is not safe."""


class Unreadable(Exception):
    """The arena sent bytes that are no message of the play stream."""
