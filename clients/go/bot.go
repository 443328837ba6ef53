package cardarena

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// A Bot plays one match. Each match has a bot of its own, so its fields belong to that match.
type Bot interface {
	// Move chooses a move. The context has the remaining time as its deadline, and is canceled when
	// the arena no longer waits for the answer. An error or a panic loses the move, not the match: the
	// SDK logs it with the ask, answers that the bot failed, and says so in the note.
	Move(ctx context.Context, ask *Ask) (Choice, error)
}

// An Ender is a bot with a method for the end of its match.
type Ender interface {
	// Ended is called once when the match ends, also if the bot missed the end.
	Ended(end *End)
}

// A Func is a bot without state.
type Func func(ctx context.Context, ask *Ask) (Choice, error)

// Move calls f.
func (f Func) Move(ctx context.Context, ask *Ask) (Choice, error) { return f(ctx, ask) }

// A BatchBot chooses the moves of many matches at a time, for example with a neural network.
type BatchBot interface {
	// Started is called before the first ask of a match.
	Started(match *Match)
	// Moves chooses a move for each ask, in the same order. An error or a panic loses all these moves.
	Moves(ctx context.Context, asks []*Ask) ([]Choice, error)
	// Ended is called after the last ask of a match.
	Ended(end *End)
}

// A Player describes a bot to the arena, and how its matches are played.
type Player struct {
	// Name is the name of a bot that plays as a guest; default: the name of the program.
	Name string
	// Version is the bot's version, in any format. The arena records it for bots that connect from
	// outside.
	Version string
	// Games are the ids of the games that the bot plays. Default: all games that this SDK supports.
	Games []string
	// MaxMatches and MaxOpenAsks limit how much the bot does at a time. 0 means 64.
	MaxMatches, MaxOpenAsks uint32
	// AskForced calls the bot also if there is only one legal move. By default the SDK answers these
	// asks.
	AskForced bool
	// WantText requests moves and events in notation as well.
	WantText bool
	// NoEntropy takes no part in fair deals: the bot adds no entropy and checks no deals.
	NoEntropy bool
	// New makes the bot of a match. A goroutine of the match calls it and the bot.
	New func(match *Match) Bot
	// Batch plays all matches, instead of the bots that New makes.
	Batch BatchBot
}

// A Choice is a bot's answer to an ask: the index of an offered move, or a move; and an optional
// note.
type Choice struct {
	index int
	move  proto.Message
	note  string
}

// Index chooses an offered move by its index in the ask's moves, from 0.
func Index(index int) Choice { return Choice{index: index} }

// Choose chooses a move of the ask's game, offered or not. The packages of the games have a Choose
// that accepts moves of their game alone.
func Choose(move proto.Message) Choice { return Choice{move: move} }

// WithNote adds a note, which only the bot's owner can read. A note over the arena's limit is
// truncated.
func (c Choice) WithNote(note string) Choice {
	c.note = note
	return c
}

// answer returns the message that answers the ask. It is an error if the index is out of range or
// the move is of another game.
func (c Choice) answer(ask *Ask) (*v1.Answer, error) {
	answer := &v1.Answer{AskId: ask.ID(), Note: c.note}
	if c.move == nil {
		if count := ask.MoveCount(); c.index < 0 || c.index >= count {
			return nil, fmt.Errorf("move index %d is out of range: %d moves are offered", c.index, count)
		}
		answer.Choice = &v1.Answer_Index{Index: uint32(c.index)}
		return answer, nil
	}
	if index := ask.indexOf(c.move); index >= 0 {
		answer.Choice = &v1.Answer_Index{Index: uint32(index)}
		return answer, nil
	}
	typed := (&v1.GameMove{}).ProtoReflect()
	field := typed.Descriptor().Fields().ByName(ask.family)
	if given := c.move.ProtoReflect(); given.Descriptor() != field.Message() {
		return nil, fmt.Errorf("a %s is not a move of %s", given.Descriptor().Name(), ask.Match.Game())
	} else {
		// The message is copied, because the author may reuse it.
		typed.Set(field, protoOf(proto.Clone(given.Interface())))
	}
	answer.Choice = &v1.Answer_Move{Move: typed.Interface().(*v1.GameMove)}
	return answer, nil
}

// failedAnswer is the answer if the bot failed: no move, with the error as its note.
func failedAnswer(ask *Ask, err error) *v1.Answer {
	return &v1.Answer{AskId: ask.ID(), Choice: &v1.Answer_Failed{Failed: true}, Note: "error: " + err.Error()}
}

// truncate shortens a note to a number of code points. A truncated note ends in an ellipsis. Bytes that are not UTF-8
// become a question mark, as a message cannot have them.
func truncate(note string, maxChars int) string {
	note = strings.ToValidUTF8(note, "?")
	if len(note) <= maxChars {
		return note
	}
	if runes := []rune(note); len(runes) > maxChars {
		return string(runes[:maxChars-1]) + "…"
	}
	return note
}
