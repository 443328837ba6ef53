// Package cards parses and sorts cards.
//
// A card is a string of two characters, rank and suit, such as "Td". A joker is "Jk". Moves, views
// and events use the same strings.
package cards

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// Ranks from low to high, the ace high.
	Ranks = "23456789TJQKA"
	// Suits in canonical order: clubs, diamonds, hearts, spades.
	Suits = "cdhs"
	// Joker is the joker, which has no rank and no suit.
	Joker = "Jk"
)

// Parse parses cards from a text, with or without spaces: "AsKd" or "As Kd".
func Parse(text string) ([]string, error) {
	text = strings.Join(strings.Fields(text), "")
	var found []string
	for at := 0; at < len(text); at += 2 {
		card := text[at:min(at+2, len(text))]
		if !IsCard(card) {
			return nil, fmt.Errorf("%q is not a card: write rank and suit, such as Td", card)
		}
		found = append(found, card)
	}
	return found, nil
}

// IsCard reports whether a text is a card.
func IsCard(text string) bool {
	return text == Joker || len(text) == 2 && Rank(text) >= 0 && Suit(text) >= 0
}

// Rank is the index of a card's rank in Ranks, or -1 for a joker.
func Rank(card string) int {
	if card == Joker || card == "" {
		return -1
	}
	return strings.IndexByte(Ranks, card[0])
}

// Suit is the index of a card's suit in Suits, or -1 for a joker.
func Suit(card string) int {
	if card == Joker || len(card) < 2 {
		return -1
	}
	return strings.IndexByte(Suits, card[1])
}

// Compare orders cards by rank, then suit, with the joker last.
func Compare(one, other string) int { return sortKey(one) - sortKey(other) }

// Sort sorts cards in place, by Compare.
func Sort(cards []string) { slices.SortFunc(cards, Compare) }

// Count counts the cards of a suit, which is one of the letters of Suits.
func Count(cards []string, suit byte) int {
	count := 0
	for _, card := range cards {
		if card != Joker && len(card) == 2 && card[1] == suit {
			count++
		}
	}
	return count
}

func sortKey(card string) int {
	if card == Joker {
		return len(Ranks) * len(Suits)
	}
	return Rank(card)*len(Suits) + Suit(card)
}
