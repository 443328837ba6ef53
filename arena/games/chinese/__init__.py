"""What the games share that set thirteen cards in rows: Chinese Poker, closed and open-faced."""
