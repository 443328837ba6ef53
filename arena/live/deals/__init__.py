"""Deal-sets in play: the handshake that fixes fair deals, and when replays may be read."""
