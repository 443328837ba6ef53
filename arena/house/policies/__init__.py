"""Fast players without memory, one module for each family of games, on which the search rests."""
