"""What ends a bot's play, told apart by who can do something about it."""


class Refused(Exception):
    """The arena will not play with this bot, and asking again would not help.

    As with an unknown token, or when another bot took over with the same one.
    """


class Unreachable(Exception):
    """The arena could not be reached for as long as the bot was told to try."""


class Lied(Exception):
    """The arena was caught at a lie about its deals. The text has every lie on a line.

    It is raised when play is over: a bot that was lied to plays on.
    """


class Misconfigured(Exception):
    """The bot cannot play as it is, or was told to connect in a way that cannot work or is not safe."""


class Unreadable(Exception):
    """The arena sent bytes that are no message of the play stream."""
