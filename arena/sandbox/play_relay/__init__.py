"""The relay between sandboxed bots and the arena: it counts what each bot sends, and closes connections that flood.

The kernel counts no bytes of Unix sockets, and gRPC reads any number of frames that carry no message. So each launched
bot has a socket file of its own at the relay, which passes bytes on to the arena. It is a process of its own, so a
flood takes processor time from the relay and never from the arena's loop. It uses the standard library alone.
`arena.live.play_socket` is its client.
"""
