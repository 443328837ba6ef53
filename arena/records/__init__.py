"""The journal of matches in progress, and replays: append, cut, read, verify, show."""
