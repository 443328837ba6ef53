"""Who plays whom: the draws of ladders and of every format, and what an organiser asks for.

Everything here is a pure function of what it is given. A draw is a sort by SHA-256 of the seed and of
what is drawn; it is stored with the hash of its inputs, so that after a stop it can be made again and
must agree.
"""
