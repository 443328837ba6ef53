// Package checks is what the constructors of moves look at, so that no move is malformed. What an
// author's code gives them wrongly is a mistake like an index out of range, and panics likewise.
package checks

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"cardarena/cards"
)

// Card is the card, if it is one.
func Card(text string) string {
	if !cards.IsCard(text) {
		panic(fmt.Sprintf("%q is no card: rank and suit are wanted, as Td", text))
	}
	return text
}

// Cards are the cards, if all of them are such.
func Cards(texts []string) []string {
	for _, text := range texts {
		Card(text)
	}
	return texts
}

// OptionalCard is the card, if it is one; nil for an empty text.
func OptionalCard(text string) *string {
	if text == "" {
		return nil
	}
	card := Card(text)
	return &card
}

// Suit is the suit's letter, if it is one.
func Suit(letter string) string {
	if len(letter) != 1 || !strings.Contains(cards.Suits, letter) {
		panic(fmt.Sprintf("%q is no suit: c, d, h or s is wanted", letter))
	}
	return letter
}

// Named is the value of its enum, if it is one and says something.
func Named[E protoreflect.Enum](name string, value E) E {
	if value.Number() == 0 {
		panic(name + " is unspecified, and must be named")
	}
	return Known(name, value)
}

// Known is the value of its enum, if it is one; it may be unspecified.
func Known[E protoreflect.Enum](name string, value E) E {
	if value.Descriptor().Values().ByNumber(value.Number()) == nil {
		panic(fmt.Sprintf("%s is %d, which is no %s", name, value.Number(), value.Descriptor().Name()))
	}
	return value
}
