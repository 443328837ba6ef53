"""Schedules, tournaments and rankings: results only, no games, no server, no SQL.

`schedule` says which bots meet on which boards, `tournament` has the matches
played, `standings` ranks the bots from the `results`.
"""
