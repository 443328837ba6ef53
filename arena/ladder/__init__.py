"""Schedules, tournaments and rankings: results only, no games, no server, no SQL.

`schedule` says which bots meet on which boards, `tournament` has the matches
played that a `work` source leases, `standings` ranks the bots from the `results`. Of the
same fit are `simultaneous` intervals, `pairs` with their circles, and `collusion`.
"""
