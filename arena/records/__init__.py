"""The journal of matches in progress, and replays, which are read, verified, shown and exported."""
