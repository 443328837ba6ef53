// Jam is a bot for Jam: it wins tricks with the lowest card that wins, and keeps high cards
// for streaks.
//
// Each card is played once, so only the order matters. The bot collects high cards: it
// discards low cards while there is a stock, ends the other seat's streaks before they
// score, and continues its own.
package main

import (
	"cmp"
	"context"
	"slices"

	"cardarena.dev/cardarena"
	"cardarena.dev/cardarena/cards"
	"cardarena.dev/cardarena/jam"
)

const (
	ten  = 8 // indexes in cards.Ranks
	jack = 9
	late = 18 // after this number of tricks, every trick matters
)

func byRank(a, b *jam.Move) int {
	return cmp.Compare(cards.Rank(a.GetCard()), cards.Rank(b.GetCard()))
}

// streak is the seat that won the last trick, and the number of tricks that it won in a row.
func streak(winners []uint32) (who uint32, length int) {
	for i := len(winners) - 1; i >= 0 && winners[i] == winners[len(winners)-1]; i-- {
		who = winners[i]
		length++
	}
	return who, length
}

func move(_ context.Context, ask *jam.Ask) (jam.Choice, error) {
	moves := slices.Clone(ask.Moves)
	slices.SortStableFunc(moves, byRank)
	switch ask.View.GetPhase() {
	case jam.PhaseDraw:
		return draw(ask), nil
	case jam.PhaseDiscard:
		return jam.Choose(moves[0]), nil // discard the lowest card
	case jam.PhaseFollow:
		return jam.Choose(follow(ask, moves)), nil
	}
	if who, length := streak(ask.View.GetWinners()); length >= 2 && int(who) == ask.Match.Seat() {
		return jam.Choose(moves[len(moves)-1]).WithNote("for four or five in a row"), nil
	}
	return jam.Choose(moves[len(moves)/2]), nil
}

func draw(ask *jam.Ask) jam.Choice {
	source := jam.SourceStock
	pile := ask.View.GetDiscards()[ask.Match.Seat()].GetCards()
	if len(pile) > 0 && cards.Rank(pile[len(pile)-1]) >= ten {
		source = jam.SourceDiscards
	}
	for place, move := range ask.Moves {
		if move.GetSource() == source {
			return jam.Index(place)
		}
	}
	return jam.Index(0)
}

// follow chooses a reply to a lead. The moves are sorted by rank.
func follow(ask *jam.Ask, moves []*jam.Move) *jam.Move {
	led := cards.Rank(ask.View.GetLed())
	wins := slices.IndexFunc(moves, func(move *jam.Move) bool { return cards.Rank(move.GetCard()) > led })
	if wins < 0 {
		return moves[0]
	}
	// An early trick outside a streak is worth a jack at most.
	_, length := streak(ask.View.GetWinners())
	matters := length >= 2 || len(ask.View.GetWinners()) >= late
	if matters || cards.Rank(moves[wins].GetCard()) <= jack {
		return moves[wins]
	}
	return moves[0]
}

func main() {
	cardarena.Main(jam.NewPlayer("jam", func(*cardarena.Match) jam.Bot { return jam.Func(move) }))
}
