"""Bots that play over a WebSocket of the pages' port, by the JSON lines of `cardarena bridge`.

The process of the pages passes the client's socket on, with the head of its request. A separate process handles the
WebSocket and plays at the arena, so that no ask and no token is in the process of the public pages.
"""
