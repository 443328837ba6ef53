"""Fast players without memory, one module for each family of games, which the search uses.

`policy` returns the move of a seat that is to act. `STEP_TIME` and the other names are the fields of
`arena.house.search.Searcher`.
"""
