"""Rankings from results: skills with intervals, forfeits, pairs and collusion. It uses no server and no database.

`ranking` ranks bots by the margin fit of `margin_fit`. `simultaneous` has intervals that hold for all bots at once,
`pairs` margins and cycles, and `collusion` evidence that the bots of two owners help each other.
"""
