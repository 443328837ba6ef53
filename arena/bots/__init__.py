"""What owners submit: taken in, qualified one after the other, and looked after."""
