package cardarena

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	v1 "cardarena/v1"
)

// A Bot plays one match: there is one for each, so that its fields are that match's.
type Bot interface {
	// Move chooses a move. The context ends when an answer is no longer wanted, and has
	// what is left of the clock as its deadline. An error, or a panic, costs the move and
	// not the match: it is logged, the first move offered is played, and a note says so.
	Move(ctx context.Context, ask *Ask) (Choice, error)
}

// An Ender is a bot that is told the end of its match, once, also if it was missed.
type Ender interface {
	Ended(end *End)
}

// A Func is a bot that keeps nothing between moves.
type Func func(ctx context.Context, ask *Ask) (Choice, error)

// Move calls f.
func (f Func) Move(ctx context.Context, ask *Ask) (Choice, error) { return f(ctx, ask) }

// A BatchBot decides the moves of many matches at a time, as with a neural network.
type BatchBot interface {
	// Started is called before the first ask of a match.
	Started(match *Match)
	// Moves chooses a move for each ask, in the same order. An error costs them all.
	Moves(ctx context.Context, asks []*Ask) ([]Choice, error)
	// Ended is called after the last ask of a match.
	Ended(end *End)
}

// A Player is what a bot says of itself when it connects, and how its matches are played.
type Player struct {
	// Name is said by a guest, and in logs.
	Name string
	// Version says which version of itself the bot is, in your own words; an arena notes it of remote bots.
	Version string
	// Games are the games that it plays, by id; none means all that this SDK knows.
	Games []string
	// MaxMatches and MaxOpenAsks bound what it does at a time; 0 is 64.
	MaxMatches, MaxOpenAsks uint32
	// AskForced gives the bot also asks with a single legal move, which else are answered at once.
	AskForced bool
	// WantText asks for moves and events in notation as well.
	WantText bool
	// NoEntropy leaves fair deals alone. To take part costs nothing to speak of.
	NoEntropy bool
	// New makes the bot of a match. It and the bot are called on a goroutine of the match.
	New func(match *Match) Bot
	// Batch plays all matches instead of New.
	Batch BatchBot
}

// A Choice is what a bot does: one of the offered moves by its place, or a move.
type Choice struct {
	index int
	move  proto.Message
	note  string
}

// Index chooses the move at a place of the ask's list, from 0.
func Index(place int) Choice { return Choice{index: place} }

// Move chooses a move of the ask's game, offered or not.
func Move(move proto.Message) Choice { return Choice{move: move} }

// WithNote adds a note, which the bot's owner alone is shown; one that is too long is cut.
func (c Choice) WithNote(note string) Choice {
	c.note = note
	return c
}

// answer is what a choice stands for, or why it stands for nothing.
func (c Choice) answer(ask *Ask) (*v1.Answer, error) {
	answer := &v1.Answer{AskId: ask.ID(), Note: c.note}
	if c.move == nil {
		if count := ask.MoveCount(); c.index < 0 || c.index >= count {
			return nil, fmt.Errorf("there is no move %d: %d are offered, from 0", c.index, count)
		}
		answer.Choice = &v1.Answer_Index{Index: uint32(c.index)}
		return answer, nil
	}
	if place := ask.place(c.move); place >= 0 {
		answer.Choice = &v1.Answer_Index{Index: uint32(place)}
		return answer, nil
	}
	typed := (&v1.GameMove{}).ProtoReflect()
	field := typed.Descriptor().Fields().ByName(ask.family)
	if given := c.move.ProtoReflect(); given.Descriptor() != field.Message() {
		return nil, fmt.Errorf("a %s is no move of %s", given.Descriptor().Name(), ask.Match.Game())
	} else {
		// The message is copied: it may be the author's own, to be used again.
		typed.Set(field, protoOf(proto.Clone(given.Interface())))
	}
	answer.Choice = &v1.Answer_Move{Move: typed.Interface().(*v1.GameMove)}
	return answer, nil
}

// failed is the answer where the author's code failed.
func failed(ask *Ask, err error) *v1.Answer {
	return &v1.Answer{AskId: ask.ID(), Choice: &v1.Answer_Index{}, Note: "error: " + err.Error()}
}

// cut is the note, ending in an ellipsis if it had to be cut to so many code points.
func cut(note string, most int) string {
	if len(note) <= most {
		return note
	}
	if runes := []rune(note); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return note
}
