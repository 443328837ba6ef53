package cardarena

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	games "cardarena.dev/cardarena/cardarenagamesv1"
	v1 "cardarena.dev/cardarena/cardarenav1"
)

func ask(id uint64, match uint32, moves int) *v1.Ask {
	body := &games.JamAsk{View: &games.JamView{}, MovesComplete: true}
	for i := range moves {
		body.Moves = append(body.Moves, &games.JamMove{Verb: games.JamVerb_JAM_VERB_PLAY, Card: string("23456789"[i]) + "c"})
	}
	body.Events = []*games.JamEvent{{Seat: uint32(id)}}
	return &v1.Ask{AskId: id, Match: match, Decision: 1, Clock: &v1.Clock{MoveMs: 1000}, Game: &v1.Ask_Jam{Jam: body}}
}

type arena struct {
	t   *testing.T
	s   *session
	out *outbox
}

func newArena(t *testing.T, askForced bool) *arena {
	a := &arena{t: t, s: newSession(&v1.Hello{Contract: contract}, askForced, nil)}
	a.stream(1)
	a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_MatchStart{MatchStart: &v1.MatchStart{Match: 1}}})
	return a
}

func (a *arena) stream(epoch uint32, open ...*v1.Ask) {
	a.out = newOutbox()
	a.s.streamOpened(a.out)
	welcome := &v1.Welcome{Epoch: epoch, OpenAsks: open}
	if epoch > 1 {
		welcome.Matches = []*v1.MatchStart{{Match: 1}}
	}
	a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_Welcome{Welcome: welcome}})
}

func (a *arena) receive(message *v1.ArenaMessage) received { return a.s.receive(message, time.Now()) }

func (a *arena) asks(asks ...*v1.Ask) {
	a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_Asks{Asks: &v1.Asks{Asks: asks}}})
}

// answers are the ids of the asks that were answered since the last call.
func (a *arena) answers() (ids []uint64) {
	a.out.put()
	a.out.mu.Lock()
	defer a.out.mu.Unlock()
	for _, answer := range a.out.answers {
		ids = append(ids, answer.GetAskId())
	}
	a.out.answers = nil
	return ids
}

func (a *arena) receiveAt(now time.Time, ask *v1.Ask) {
	a.s.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_Asks{Asks: &v1.Asks{Asks: []*v1.Ask{ask}}}}, now)
}

// delivered are the asks that are delivered to the bot now.
func (a *arena) delivered() (asks []*Ask) {
	tasks := a.s.tasks
	a.s.tasks = nil
	for _, task := range tasks {
		if task.ask != nil {
			if _, ok := a.s.deliver(context.Background(), task.ask); ok {
				asks = append(asks, task.ask)
			}
		}
	}
	return asks
}

func (a *arena) want(what string, got, want any) {
	a.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		a.t.Errorf("%s: %s, not %s", what, g, w)
	}
}

func TestAForcedMoveIsAnsweredWithoutTheBotByDefault(t *testing.T) {
	a := newArena(t, false)
	a.asks(ask(7, 1, 1))
	a.want("answered", a.answers(), []uint64{7})
	a.want("delivered", len(a.delivered()), 0)
	a = newArena(t, true)
	a.asks(ask(7, 1, 1))
	a.want("delivered", len(a.delivered()), 1)
}

func TestWaitsInTheOwnQueueAndOnTheNetworkAreNoted(t *testing.T) {
	a := newArena(t, true)
	now := time.Now()
	a.s.now = func() time.Time { return now }
	var notes []string
	for id := range uint64(6) {
		next := ask(id+1, 1, 2)
		next.Clock.LastRoundTripMs = 250 // 200 ms of it are the bot's
		a.receiveAt(now, next)
		now = now.Add(50 * time.Millisecond)
		a.delivered()
		now = now.Add(150 * time.Millisecond)
		answer := &v1.Answer{AskId: id + 1}
		a.s.answer(answer)
		notes = append(notes, answer.GetNote())
	}
	want := "times: 4 asks waited 0.200 s in the own queue; 4 took 0.200 s on the network"
	a.want("notes", fmt.Sprintf("%q", notes), fmt.Sprintf("%q", []string{"", "", "", "", want, ""}))
}

func TestEventsOfUndeliveredAsksComeWithTheNextAsk(t *testing.T) {
	a := newArena(t, false)
	a.asks(ask(7, 1, 1), ask(8, 1, 2))
	delivered := a.delivered()
	a.want("delivered", len(delivered), 1)
	a.want("events", len(delivered[0].Events()), 2)
}

func TestTheContextOfAMoveIsCanceledWhenItsAskIsClosed(t *testing.T) {
	a := newArena(t, false)
	a.asks(ask(7, 1, 2))
	delivered := a.delivered()[0]
	if delivered.ctx.Err() != nil {
		t.Fatal("it is canceled before")
	}
	a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_AskClosed{AskClosed: &v1.AskClosed{AskId: 7, Fault: v1.FaultKind_FAULT_KIND_TIMEOUT}}})
	if !errors.Is(delivered.ctx.Err(), context.Canceled) {
		t.Error("it is not canceled")
	}
}

func TestAnAbandonedAskIsDeliveredAgainIfTheArenaRepeatsIt(t *testing.T) {
	a := newArena(t, false)
	a.asks(ask(7, 1, 2))
	delivered := a.delivered()[0]
	a.stream(2)
	a.want("delivered", len(a.delivered()), 0)
	a.s.abandon(delivered)
	a.want("delivered", len(a.delivered()), 0)
	a.asks(ask(7, 1, 2))
	a.want("delivered", len(a.delivered()), 1)
}

func TestASecondAnswerIsDropped(t *testing.T) {
	a := newArena(t, false)
	a.asks(ask(7, 1, 2))
	a.s.answer(&v1.Answer{AskId: 7}, &v1.Answer{AskId: 7}, &v1.Answer{AskId: 9})
	a.want("answered", a.answers(), []uint64{7})
}

func TestAChoiceGivesAnAnswerOrAnError(t *testing.T) {
	offered := newAsk(ask(7, 1, 3), &Match{Start: &v1.MatchStart{Terms: &v1.MatchTerms{Game: "jam"}}}, nil, time.Now())
	for _, row := range []struct {
		why    string
		choice Choice
		index  uint32
		typed  bool
		wrong  string
	}{
		{"an index", Index(2), 2, false, ""},
		{"an offered move", Choose(offered.MoveAt(1)), 1, false, ""},
		{"an equal move", Choose(&games.JamMove{Verb: games.JamVerb_JAM_VERB_PLAY, Card: "4c"}), 2, false, ""},
		{"a move that is not offered", Choose(&games.JamMove{Verb: games.JamVerb_JAM_VERB_PLAY, Card: "As"}), 0, true, ""},
		{"an index past the list", Index(3), 0, false, "move index 3 is out of range: 3 moves are offered"},
		{"an index below it", Index(-1), 0, false, "move index -1 is out of range"},
		{"another game's move", Choose(&games.LooMove{}), 0, false, "a LooMove is not a move of jam"},
	} {
		answer, err := row.choice.WithNote("why").answer(offered)
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v", row.why, err)
			}
			continue
		}
		if err != nil || answer.GetIndex() != row.index || (answer.GetMove() != nil) != row.typed || answer.GetNote() != "why" {
			t.Errorf("%s: %v %v", row.why, answer, err)
		}
	}
}

func TestANoteIsTruncatedByCodePoints(t *testing.T) {
	for _, row := range []struct{ note, want string }{
		{"", ""}, {"abc", "abc"}, {"abcd", "ab…"}, {"🂡🂡🂡", "🂡🂡🂡"}, {"🂡🂡🂡🂡", "🂡🂡…"}, {"x\xed\xa0\xbd", "x?"},
	} {
		if got := truncate(row.note, 3); got != row.want {
			t.Errorf("%q is truncated to %q", row.note, got)
		}
	}
}

func TestAnswersFitTheLimits(t *testing.T) {
	var answers []*v1.Answer
	for id := range uint64(9) {
		answers = append(answers, &v1.Answer{AskId: id + 1, Note: strings.Repeat("n", 50)})
	}
	for _, row := range []struct {
		limits   *v1.Limits
		messages int
	}{
		{&v1.Limits{}, 1}, {&v1.Limits{MaxAnswers: 4}, 3}, {&v1.Limits{MaxMessageBytes: 200}, 4}, {&v1.Limits{MaxMessageBytes: 70}, 9}, {&v1.Limits{MaxMessageBytes: 20}, 9},
	} {
		out := newOutbox()
		out.setLimits(row.limits)
		out.putAnswers(answers)
		messages := out.next(context.Background())
		count := 0
		for _, message := range messages {
			count += len(message.GetAnswers().GetAnswers())
			if limit := row.limits.GetMaxMessageBytes(); limit > 60 && proto.Size(message) > int(limit) {
				t.Errorf("%v: a message has %d bytes", row.limits, proto.Size(message))
			}
		}
		if len(messages) != row.messages && row.limits.GetMaxMessageBytes() != 200 || count != len(answers) {
			t.Errorf("%v: %d messages with %d answers", row.limits, len(messages), count)
		}
	}
}

func TestWhenABotConnectsAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	fullJitter := func(max time.Duration) time.Duration { return max }
	for _, row := range []struct {
		why        string
		once       bool
		end        streamEnd
		delay      time.Duration
		reconnects bool
		refused    bool
	}{
		{"connection lost", false, streamEnd{code: codes.Unavailable}, 200 * time.Millisecond, true, false},
		{"busy", false, streamEnd{code: codes.ResourceExhausted, reason: "BUSY", retryDelay: time.Second}, 2 * time.Second, true, false},
		{"limit exceeded", false, streamEnd{code: codes.ResourceExhausted}, 0, false, true},
		{"another bot with the token", false, streamEnd{code: codes.Aborted}, 0, false, true},
		{"in order", false, streamEnd{code: codes.OK}, 200 * time.Millisecond, true, false},
		{"in order, once", true, streamEnd{code: codes.OK}, 0, false, false},
		{"in order, drained", false, streamEnd{code: codes.OK, draining: true}, 0, false, false},
		{"lost while draining", false, streamEnd{code: codes.Unavailable, draining: true}, 200 * time.Millisecond, true, false},
		{"redirected", false, streamEnd{redirect: "there:1"}, 0, true, false},
	} {
		r := newRedial("here:1", row.once)
		r.now, r.jitter, r.connectedAt = func() time.Time { return now }, fullJitter, now
		next, reconnects, err := r.after(row.end)
		if next.delay != row.delay || reconnects != row.reconnects || (err != nil) != row.refused {
			t.Errorf("%s: %v %v %v", row.why, next, reconnects, err)
		}
	}
}

func TestDelaysDoubleUpToAMaximumAndALongStreamResetsThem(t *testing.T) {
	r := newRedial("here:1", false)
	r.jitter = func(max time.Duration) time.Duration { return max }
	var delays []time.Duration
	for range 10 {
		next, _, _ := r.after(streamEnd{code: codes.Unavailable})
		delays = append(delays, next.delay)
	}
	if delays[1] != 400*time.Millisecond || delays[9] != backoffCap {
		t.Error(delays)
	}
	if next, _, _ := r.after(streamEnd{code: codes.Unavailable, openFor: resetsBackoff}); next.delay != backoffBase {
		t.Error(next)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	err := catchPanic(func() error { panic("no") })
	if err == nil || err.Error() != "panic: no" {
		t.Error(err)
	}
}

func TestWhichAddressesAreLocal(t *testing.T) {
	for endpoint, local := range map[string]bool{
		"localhost:7654": true, "127.0.0.1:1": true, "[::1]:7654": true, "::1": true, "unix:/tmp/a": true, "localhost": true,
		"10.0.0.1:1": false, "arena.example:7654": false, "localhost.example:1": false, "": false,
	} {
		if isLocal(endpoint) != local {
			t.Errorf("%q: %v", endpoint, !local)
		}
	}
}
