"""Deal-sets and their schedules, the outcomes of matches, and the runner that plays deal-sets."""
