"""What ends a bot's play, told apart by who can do something about it."""


class Refused(Exception):
    """The arena will not play with this bot, and asking again would not help.

    As with an unknown token, or when another bot took over with the same one.
    """


class Unreachable(Exception):
    """The arena could not be reached for as long as the bot was told to try."""


class Unreadable(Exception):
    """The arena sent bytes that are no message of the play stream."""
