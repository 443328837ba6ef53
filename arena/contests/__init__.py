"""Competitions: plans, draws of ladders and all formats, records, and standings.

Everything here is a pure function of its arguments. A draw sorts by the SHA-256 of the seed and of what is drawn.
It is stored with the hash of its inputs, so that it can be made again after a restart and compared.
"""
