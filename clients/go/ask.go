package cardarena

import (
	"context"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// A Match is a match, as the arena announced it.
type Match struct {
	// Start is the arena's message.
	Start *v1.MatchStart
}

// Number is the number by which the arena identifies this bot's seat at the match.
func (m *Match) Number() uint32 { return m.Start.GetMatch() }

// Game is the game's id, such as jam.
func (m *Match) Game() string { return m.Start.GetTerms().GetGame() }

// Seat is the bot's seat, from 0.
func (m *Match) Seat() int { return int(m.Start.GetSeat()) }

// Option is the value of a game option: an int64, a string or a bool. It is nil if the game has no
// option of that name.
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

// askEvents are the events of one or more asks.
type askEvents struct {
	events    []proto.Message
	texts     []string
	playedFor []*v1.PlayedFor
}

// An Ask is one decision of a seat, with everything that the seat can see.
type Ask struct {
	// Message is the arena's own message.
	Message *v1.Ask
	// Match is the match of the ask.
	Match *Match

	family      protoreflect.Name
	body        protoreflect.Message
	undelivered *askEvents
	due         time.Time
	random      *rand.Rand

	// The session's lock guards these.
	open, delivered bool
	ctx             context.Context
	cancel          context.CancelFunc
}

// newAsk wraps an ask that arrived now. It is nil if this SDK does not know the game.
func newAsk(message *v1.Ask, match *Match, undelivered *askEvents, now time.Time) *Ask {
	field := message.ProtoReflect().WhichOneof(message.ProtoReflect().Descriptor().Oneofs().ByName("game"))
	if field == nil {
		return nil
	}
	clock := message.GetClock()
	budget := time.Duration(clock.GetMoveMs()+clock.GetBankMs()) * time.Millisecond
	return &Ask{
		Message: message, Match: match, family: field.Name(),
		body: message.ProtoReflect().Get(field).Message(), undelivered: undelivered, due: now.Add(budget), open: true,
	}
}

// NewAsk returns an ask for the test of a bot: of a match of the game, at seat 0, as if it arrived now.
// An ask without a clock gets a minute. The packages of the games have a NewAsk of their types.
// NewAsk panics if the message has no game.
func NewAsk(game string, message *v1.Ask) *Ask {
	if message.Clock == nil {
		message.Clock = &v1.Clock{MoveMs: uint32(time.Minute.Milliseconds())}
	}
	match := &Match{Start: &v1.MatchStart{Terms: &v1.MatchTerms{Game: game}}}
	ask := newAsk(message, match, nil, time.Now())
	if ask == nil {
		panic("the ask has no game: set its Game")
	}
	return ask
}

// ID is the number by which the arena identifies this ask.
func (a *Ask) ID() uint64 { return a.Message.GetAskId() }

// Body is the game's own message, such as a JamAsk.
func (a *Ask) Body() proto.Message { return a.body.Interface() }

// MoveCount is the number of offered moves, at least 1. If MovesComplete is false, the rules allow
// more moves than these.
func (a *Ask) MoveCount() int { return a.list("moves").Len() }

// MoveAt is the offered move with an index, from 0: the game's own message.
func (a *Ask) MoveAt(index int) proto.Message {
	return a.list("moves").Get(index).Message().Interface()
}

// MovesComplete reports whether the offered moves are all legal moves.
func (a *Ask) MovesComplete() bool {
	return a.body.Get(a.body.Descriptor().Fields().ByName("moves_complete")).Bool()
}

// MoveTexts are the moves in notation, if the player has WantText.
func (a *Ask) MoveTexts() []string { return a.Message.GetMoveTexts() }

// Chosen returns the move that a choice stands for. It is an error if the arena would not accept it:
// if the index is out of range, or the move is of another game or not one of all legal moves.
func (a *Ask) Chosen(choice Choice) (proto.Message, error) {
	answer, err := choice.answer(a)
	if err != nil {
		return nil, err
	}
	if move := answer.GetMove(); move == nil {
		return a.MoveAt(int(answer.GetIndex())), nil
	} else if a.MovesComplete() {
		return nil, fmt.Errorf("the move is not legal: %v", gameMessage(move))
	} else {
		return gameMessage(move), nil
	}
}

// Events are what happened since the bot last received an ask of this match, oldest first, as the
// game's own messages. They include the events of asks that the bot did not receive.
func (a *Ask) Events() []proto.Message { return a.allEvents().events }

// EventTexts are the events in notation, if the player has WantText.
func (a *Ask) EventTexts() []string { return a.allEvents().texts }

// PlayedFor are the moves among the events that the arena played in place of a bot at fault.
func (a *Ask) PlayedFor() []*v1.PlayedFor { return a.allEvents().playedFor }

// TimeLeft is the remaining time: the time of the move and the bank, less the time since the ask
// arrived. It does not include the way from and to the arena. The message's clock has how long that
// and the decision took last time.
func (a *Ask) TimeLeft() time.Duration { return max(0, time.Until(a.due)) }

// Seed is what the random numbers of this decision are seeded with: 32 secret bytes, the same in every
// language. They follow from the match's dice and the number of the decision. If the arena sent no
// dice, the SDK draws some for the process.
func (a *Ask) Seed() [32]byte {
	dice := a.Match.Start.GetDice()
	if len(dice) == 0 {
		dice = binary.BigEndian.AppendUint32(slices.Clone(ownDice()), a.Match.Number())
	}
	mac := hmac.New(sha256.New, dice)
	mac.Write(binary.BigEndian.AppendUint32(nil, a.Message.GetDecision()))
	return [32]byte(mac.Sum(nil))
}

// Random generates the random numbers of this decision, by ChaCha8 from Seed. A bot that takes all its
// chance from here plays the same again if dice and asks are the same. Versions that are compared with
// common dice have the same numbers at the same decision, so fewer deal-sets tell them apart.
func (a *Ask) Random() *rand.Rand {
	if a.random == nil {
		a.random = rand.New(rand.NewChaCha8(a.Seed()))
	}
	return a.random
}

// ownDice are for matches of arenas that send no dice.
var ownDice = sync.OnceValue(func() []byte {
	dice := make([]byte, 16)
	_, _ = crand.Read(dice) // it never fails
	return dice
})

func (a *Ask) forced() bool { return a.MoveCount() == 1 && a.MovesComplete() }

func (a *Ask) list(name protoreflect.Name) protoreflect.List {
	return a.body.Get(a.body.Descriptor().Fields().ByName(name)).List()
}

// allEvents are the events of this ask, after those of earlier asks that the bot did not receive.
func (a *Ask) allEvents() *askEvents {
	all := &askEvents{}
	if a.undelivered != nil {
		all.events = append(all.events, a.undelivered.events...)
		all.texts = append(all.texts, a.undelivered.texts...)
		all.playedFor = append(all.playedFor, a.undelivered.playedFor...)
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

// indexOf is the index of a move among the offered ones, or -1.
func (a *Ask) indexOf(move proto.Message) int {
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
	// Match is the match that ended.
	Match *Match

	undelivered *askEvents
}

// Missed reports whether the match ended while the bot was disconnected. Its result is then
// unknown.
func (e *End) Missed() bool { return e.Message.GetEnding() == v1.Ending_ENDING_UNSPECIFIED }

// Events are what happened since the bot last received an ask, oldest first, as the game's own
// messages.
func (e *End) Events() []proto.Message {
	var events []proto.Message
	if e.undelivered != nil {
		events = append(events, e.undelivered.events...)
	}
	for _, event := range e.Message.GetTrailingEvents() {
		if body := gameMessage(event); body != nil {
			events = append(events, body)
		}
	}
	return events
}

// gameMessage is the message that is set in a oneof game, or nil.
func gameMessage(message proto.Message) proto.Message {
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
