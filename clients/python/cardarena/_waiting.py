"""Log lines about a bot's state: connected, in play, or waiting."""

from cardarena._session import Session
from cardarena.v1.play_pb2 import Hello

GUEST = "guest:"


class Waiting:
    """Finds the log line for a change of state."""

    def __init__(self, hello: Hello, address: str, default_address: str) -> None:
        """Begin with the bot's `hello` and the address of its arena."""
        token = hello.token
        self._is_guest = token.startswith(GUEST)
        self._name = token.split(":")[1] if self._is_guest else ""
        self._game = hello.games[0].game if hello.games else "GAME"
        self._server = "" if address == default_address else f" --server {address}"
        self._playing = False

    def after(self, session: Session, *, welcomed: bool) -> str:
        """Return the line after a message of the arena; empty if the state is the same."""
        seats = session.seated
        if seats:
            start = seats[-1]
            self._name = next(
                (player.name for player in start.players if player.seat == start.seat), self._name
            )
        if not welcomed and self._playing == bool(seats):
            return ""
        self._playing = bool(seats)
        if not seats:
            words = (
                f"waiting for a match: {self._order()}"
                if welcomed
                else "waiting for the next match"
            )
        elif welcomed:
            words = f"{len(seats)} {'match goes' if len(seats) == 1 else 'matches go'} on"
        else:
            start = seats[-1]
            # Matches of deal-sets have names only after the deal-set is over.
            others = [
                player.name
                for player in start.players
                if player.seat != start.seat and player.name != f"seat {player.seat}"
            ]
            against = f" against {', '.join(others)}" if others else ""
            words = f"playing {start.terms.game}{against}"
        return f"welcome to the arena{self._as()}; {words}" if welcomed else words

    def _as(self) -> str:
        return f" as {self._name}" if self._name else ""

    def _order(self) -> str:
        """Return the command that creates a match for the bot: only organisers create one for a bot with a key."""
        if self._is_guest:
            return f"arena match create {self._game} {self._name} OTHER{self._server}"
        return f"arena competition enter COMPETITION {self._name or 'BOT'}{self._server}"
