"""Submitted bots: intake, qualification, and storage of their files, runtimes and logs."""
