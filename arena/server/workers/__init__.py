"""Workers: processes that play leased deal-sets of launched bots for an arena."""
