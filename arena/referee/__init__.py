"""The referee: one match from its first deal to its result, with asks, clocks, faults and fallbacks.

A `MatchRunner` is a state machine without input or output: its methods are called with what arrived and when, and
it calls ports and a ledger. `Timers` call it at deadlines, `StepProcesses` play heavy steps, and `Referee` waits
for its end. The latter two are imported from their own modules, so that reading replays does not need trio.
"""
