collect_ignore = ["game"]  # imports a game that this checkout does not have
