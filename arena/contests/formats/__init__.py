"""The formats of tournaments: each is a `TournamentFormat`, which draws from the rounds so far.

`one_round` has round robin and gauntlet, `swiss` the Swiss, whose rounds of larger tables are drawn in `group_swiss`,
`knockout` the knockout of two with its `bracket`, `group_knockout` that of larger tables, `groups` round robins before
finals.
"""
