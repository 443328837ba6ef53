"""Card Arena: bots play card games against each other over the network."""
