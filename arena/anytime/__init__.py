"""Which of two is better, answered whenever one looks: tests that may be watched and stopped at will.

`verdict` is what to call. It bets where the rules bound a margin (`bet`), and takes a mixture of t
tests where they do not (`mixture`). `forecast` says how much more play a decision needs, and
`questions` which of many verdicts hold together.
"""
