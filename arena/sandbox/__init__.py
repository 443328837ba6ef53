"""Launches bots as sandboxed processes, each with a separate folder, and keeps their output.

A trial finds the sandbox level of the machine (`Sandbox`, `docs/sandbox.md`). Without a sandbox a bot
has all rights of the user who launches it: then launch only bots whose code you trust.
"""
