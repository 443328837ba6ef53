"""The leak gate: two worlds that a seat cannot tell apart must look the same to it, byte for byte."""
