"""Betting, pots and matches of the poker games: Soko and the Pineapple games."""
