"""Workers: processes that play deal-sets of launched bots for an arena."""
