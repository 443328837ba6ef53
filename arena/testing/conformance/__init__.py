"""The conformance kit: a scripted arena that tests a client, case by case.

The cases are data in `clients/conformance/`, whose README describes their format. A client
under test is a command with fixed bots. The kit knows no SDK: it judges by the messages on
the socket, the exit code and the output of the fixed bots.
"""
