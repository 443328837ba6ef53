// Package checks checks the arguments of moves' constructors. An invalid argument is a mistake in
// the caller, so the functions panic, as an index out of range does.
package checks

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"cardarena.dev/cardarena/cards"
)

// Card returns the card, or panics if the text is not one.
func Card(text string) string {
	if !cards.IsCard(text) {
		panic(fmt.Sprintf("%q is not a card: write rank and suit, such as Td", text))
	}
	return text
}

// Cards returns the cards, or panics if one of the texts is not a card.
func Cards(texts []string) []string {
	for _, text := range texts {
		Card(text)
	}
	return texts
}

// OptionalCard returns the card, or nil for an empty text.
func OptionalCard(text string) *string {
	if text == "" {
		return nil
	}
	card := Card(text)
	return &card
}

// Suit returns the suit's letter, or panics if the text is not one.
func Suit(letter string) string {
	if len(letter) != 1 || !strings.Contains(cards.Suits, letter) {
		panic(fmt.Sprintf("%q is not a suit: write c, d, h or s", letter))
	}
	return letter
}

// Specified returns the value of an enum, or panics if it is unspecified or unknown.
func Specified[E protoreflect.Enum](name string, value E) E {
	if value.Number() == 0 {
		panic(name + " must not be unspecified")
	}
	return ValidOrUnspecified(name, value)
}

// ValidOrUnspecified returns the value of an enum, or panics if it is unknown. It may be
// unspecified.
func ValidOrUnspecified[E protoreflect.Enum](name string, value E) E {
	if value.Descriptor().Values().ByNumber(value.Number()) == nil {
		panic(fmt.Sprintf("%s is %d, which is not a %s", name, value.Number(), value.Descriptor().Name()))
	}
	return value
}
