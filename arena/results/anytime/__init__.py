"""Anytime-valid tests: which of two bots is better, with evidence that may be read after every deal-set.

`verdict` is the entry point. It uses bets where the rules bound margins (`bet`), and a mixture of t tests
for other margins (`mixture`). `forecast` estimates how many deal-sets a decision needs, and `multiple_tests` selects
the verdicts that hold together.
"""
