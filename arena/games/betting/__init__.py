"""What the poker games share that are bet for chips: Soko and the Pineapples."""
