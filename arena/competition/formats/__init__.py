"""The formats of tournaments, each drawn from what happened so far.

`swiss` and `swiss_tables` draw a round after the other, `bracket` is a knockout of two and
`knockout_tables` one of larger tables, `groups` plays round robins before finals, `gauntlet` has
everybody meet one. A round robin alone is `arena.ladder.schedule`.
"""
