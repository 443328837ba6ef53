"""What an arena owes a client by `play.proto`, case by case.

Rows S1 to S18 are those of a kit that another arena, or a client of another language, could be
tried with: each test's id begins with its row. Most run in memory, by a session and a table;
what only a transport shows runs over real sockets.
"""
