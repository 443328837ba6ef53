"""What a bot tells its author of how it stands: that it is in, plays, or waits, and for what."""

from cardarena._session import Session
from cardarena.v1.play_pb2 import Hello

GUEST = "guest:"


class Waiting:
    """Finds the line for a change of state: there, at matches, or waiting for one."""

    def __init__(self, hello: Hello, address: str, default_address: str) -> None:
        """A bot that said this `hello`, at an address that it was given."""
        token = hello.token
        self._name = token.split(":")[1] if token.startswith(GUEST) else ""
        self._game = hello.games[0].game if hello.games else "GAME"
        self._server = "" if address == default_address else f" --server {address}"
        self._playing = False

    def after(self, session: Session, *, welcomed: bool) -> str:
        """The line to say after a message of the arena; empty if nothing has changed."""
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
            # In deal-sets the arena gives no names before all matches have ended.
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
        """The command with which somebody makes a match for the bot."""
        return f"arena match create {self._game} {self._name or 'BOT'} OTHER{self._server}"
