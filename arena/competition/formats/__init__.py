"""The formats of tournaments: draws from the rounds so far.

`swiss` and `group_swiss` draw one round after another, `bracket` is a knockout of two and `group_knockout` one of
larger tables, `groups` has round robins before finals, and in `gauntlet` all bots meet one. The round robin is in
`arena.schedule.deal_sets`.
"""
