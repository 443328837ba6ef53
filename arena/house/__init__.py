"""The arena's own bots: graded strength for every game, by a fast policy and a search on top of it."""
