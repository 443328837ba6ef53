"""Local play in one process, without a server: the loop over the rules, and matches between bots of the Python SDK."""
