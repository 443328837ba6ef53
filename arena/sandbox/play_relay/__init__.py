"""The relay between sandboxed bots and the arena: it counts what each bot sends, and closes connections that flood.

The kernel counts no bytes of Unix sockets, and gRPC reads any number of frames that carry no message. So each launched
bot has a separate socket file at the relay, which passes bytes on to the arena. The relay is a separate process, so a
flood uses processor time of the relay and never of the arena's loop. It uses only the standard library.
`arena.live.play_socket` is its client.
"""
