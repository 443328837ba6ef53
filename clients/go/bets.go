package cardarena

import "fmt"

// Bets is the range of a bet or raise, in chips.
type Bets struct{ Least, Most uint32 }

// Has reports whether the range contains a bet.
func (b Bets) Has(to uint32) bool { return b.Least <= to && to <= b.Most }

// At returns the bet, or an error if it is outside the range.
func (b Bets) At(to uint32) (uint32, error) {
	if !b.Has(to) {
		return 0, fmt.Errorf("a bet to %d is out of range: write %d to %d", to, b.Least, b.Most)
	}
	return to, nil
}

// Nearest returns the bet in the range that is nearest to an amount.
func (b Bets) Nearest(to uint32) uint32 { return min(max(to, b.Least), b.Most) }
