"""Rules values to bytes and back."""
