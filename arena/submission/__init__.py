"""Submitted bots: archives, manifests, versions, runtimes and qualification reports. No server, no SQL."""
