"""Plays Kuhn Poker: bets the king, calls with the king, and bluffs with a third of its jacks."""

import cardarena
from cardarena import kuhn_poker


class KuhnPokerBot(kuhn_poker.Bot):
    def move(self, ask: kuhn_poker.Ask) -> kuhn_poker.Choice:
        view = ask.view
        facing_bet = max(view.chips) > min(view.chips)
        if view.card[0] == "K":
            return kuhn_poker.moves.call() if facing_bet else kuhn_poker.moves.bet()
        third = view.hand % 3 == 0
        if facing_bet:
            # Calling with a third of the queens makes bluffs worth nothing.
            calls = view.card[0] == "Q" and third
            return kuhn_poker.moves.call() if calls else kuhn_poker.moves.fold()
        bluffs = view.card[0] == "J" and third
        return kuhn_poker.moves.bet() if bluffs else kuhn_poker.moves.check()


if __name__ == "__main__":
    cardarena.run(KuhnPokerBot)
