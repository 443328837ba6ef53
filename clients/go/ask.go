package cardarena

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "cardarena/v1"
)

// A Match is a match as the arena announced it.
type Match struct {
	// Start is the arena's own message.
	Start *v1.MatchStart
}

// Number is the arena's number of this seat at the match.
func (m *Match) Number() uint32 { return m.Start.GetMatch() }

// Game is the game's id, as jam.
func (m *Match) Game() string { return m.Start.GetTerms().GetGame() }

// Seat is the bot's own seat, from 0.
func (m *Match) Seat() int { return int(m.Start.GetSeat()) }

// Option is an option of the game: an int64, a string or a bool; nil if there is none of the name.
func (m *Match) Option(name string) any {
	for _, setting := range m.Start.GetTerms().GetOptions() {
		if setting.GetName() == name {
			switch value := setting.GetValue().(type) {
			case *v1.Setting_Text:
				return value.Text
			case *v1.Setting_Flag:
				return value.Flag
			default:
				return setting.GetNumber()
			}
		}
	}
	return nil
}

// told is what came with asks that the bot never got.
type told struct {
	events    []proto.Message
	texts     []string
	playedFor []*v1.PlayedFor
}

// An Ask is one decision of one seat, with everything that the seat may know.
type Ask struct {
	// Message is the arena's own message.
	Message *v1.Ask
	// Match is the match that it belongs to.
	Match *Match

	family protoreflect.Name
	body   protoreflect.Message
	before *told
	due    time.Time

	// The session's, under its lock.
	open, shown bool
	ctx         context.Context
	cancel      context.CancelFunc
}

// newAsk wraps an ask that has just come; nil if this SDK does not know its game.
func newAsk(message *v1.Ask, match *Match, before *told, now time.Time) *Ask {
	field := message.ProtoReflect().WhichOneof(message.ProtoReflect().Descriptor().Oneofs().ByName("game"))
	if field == nil {
		return nil
	}
	clock := message.GetClock()
	budget := time.Duration(clock.GetMoveMs()+clock.GetBankMs()) * time.Millisecond
	return &Ask{
		Message: message, Match: match, family: field.Name(),
		body: message.ProtoReflect().Get(field).Message(), before: before, due: now.Add(budget), open: true,
	}
}

// ID is the arena's number of this ask.
func (a *Ask) ID() uint64 { return a.Message.GetAskId() }

// Body is the game's own message, as a JamAsk.
func (a *Ask) Body() proto.Message { return a.body.Interface() }

// MoveCount is the number of moves offered, never 0.
func (a *Ask) MoveCount() int { return a.list("moves").Len() }

// MoveAt is the move offered at a place, from 0: the game's own message.
func (a *Ask) MoveAt(place int) proto.Message {
	return a.list("moves").Get(place).Message().Interface()
}

// MovesComplete says whether the rules allow no other moves than those offered.
func (a *Ask) MovesComplete() bool {
	return a.body.Get(a.body.Descriptor().Fields().ByName("moves_complete")).Bool()
}

// MoveTexts are the moves in notation, if the player has WantText.
func (a *Ask) MoveTexts() []string { return a.Message.GetMoveTexts() }

// Events happened since the bot was last given an ask of this match, oldest first: the game's own
// messages. Those of asks that the bot never saw are among them.
func (a *Ask) Events() []proto.Message { return a.told().events }

// EventTexts are the events in notation, if the player has WantText.
func (a *Ask) EventTexts() []string { return a.told().texts }

// PlayedFor are moves among the events that the arena played for a bot at fault.
func (a *Ask) PlayedFor() []*v1.PlayedFor { return a.told().playedFor }

// TimeLeft is what is left of the move's time and the bank since the ask came. The way to the arena
// is not in it: the message's clock tells how long that and the thinking took last time.
func (a *Ask) TimeLeft() time.Duration { return max(0, time.Until(a.due)) }

func (a *Ask) forced() bool { return a.MoveCount() == 1 && a.MovesComplete() }

func (a *Ask) list(name protoreflect.Name) protoreflect.List {
	return a.body.Get(a.body.Descriptor().Fields().ByName(name)).List()
}

// told is all that this ask tells, with what was told before it and not given to the bot.
func (a *Ask) told() *told {
	all := &told{}
	if a.before != nil {
		all.events = append(all.events, a.before.events...)
		all.texts = append(all.texts, a.before.texts...)
		all.playedFor = append(all.playedFor, a.before.playedFor...)
	}
	shift := uint32(len(all.events))
	for events, i := a.list("events"), 0; i < events.Len(); i++ {
		all.events = append(all.events, events.Get(i).Message().Interface())
	}
	all.texts = append(all.texts, a.Message.GetEventTexts()...)
	for _, one := range a.Message.GetPlayedFor() {
		shifted := proto.CloneOf(one)
		shifted.EventsBefore += shift
		all.playedFor = append(all.playedFor, shifted)
	}
	return all
}

// place is where a move stands in the list; -1 if it is not offered.
func (a *Ask) place(move proto.Message) int {
	moves := a.list("moves")
	for i := range moves.Len() {
		if moves.Get(i).Message().Interface() == move {
			return i
		}
	}
	for i := range moves.Len() {
		if proto.Equal(moves.Get(i).Message().Interface(), move) {
			return i
		}
	}
	return -1
}

// An End is the end of a match.
type End struct {
	// Message is the arena's own message.
	Message *v1.MatchEnd
	// Match is the match that has ended.
	Match *Match

	before *told
}

// Missed says whether the match ended while the bot was cut off, so that its result is not known.
func (e *End) Missed() bool { return e.Message.GetEnding() == v1.Ending_ENDING_UNSPECIFIED }

// Events happened since the bot was last given an ask, oldest first: the game's own messages.
func (e *End) Events() []proto.Message {
	var events []proto.Message
	if e.before != nil {
		events = append(events, e.before.events...)
	}
	for _, event := range e.Message.GetTrailingEvents() {
		if body := gameOf(event); body != nil {
			events = append(events, body)
		}
	}
	return events
}

// gameOf is the message that is set in a oneof game; nil if none is.
func gameOf(message proto.Message) proto.Message {
	reflected := message.ProtoReflect()
	field := reflected.WhichOneof(reflected.Descriptor().Oneofs().ByName("game"))
	if field == nil {
		return nil
	}
	return reflected.Get(field).Message().Interface()
}

func protoOf(message proto.Message) protoreflect.Value {
	return protoreflect.ValueOfMessage(message.ProtoReflect())
}
