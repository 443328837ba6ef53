package cardarena

import "fmt"

// Bets is what a bet or raise may come to, in chips.
type Bets struct{ Least, Most uint32 }

// Has says whether a bet may be made.
func (b Bets) Has(to uint32) bool { return b.Least <= to && to <= b.Most }

// At is the bet, if it may be made, and otherwise an error.
func (b Bets) At(to uint32) (uint32, error) {
	if !b.Has(to) {
		return 0, fmt.Errorf("a bet to %d is none: it may come to %d to %d", to, b.Least, b.Most)
	}
	return to, nil
}

// Nearest is the bet, or that of the range which is nearest to it.
func (b Bets) Nearest(to uint32) uint32 { return min(max(to, b.Least), b.Most) }
