package cardarena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// played plays two matches of a scripted arena, and returns the answers and the log.
func played(t *testing.T, player *Player) (answers map[uint64]*v1.Answer, logged string) {
	t.Helper()
	a := newArena(t, true)
	a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_MatchStart{MatchStart: &v1.MatchStart{Match: 2}}})
	a.asks(ask(7, 1, 3), ask(8, 2, 3))
	var lines strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { (&botRunner{a.s, player, slog.New(slog.NewTextHandler(&lines, nil))}).play(ctx) })
	answers = map[uint64]*v1.Answer{}
	for len(answers) < 2 {
		messages := a.out.next(ctx)
		if messages == nil {
			t.Fatal("an ask has no answer")
		}
		for _, message := range messages {
			for _, answer := range message.GetAnswers().GetAnswers() {
				answers[answer.GetAskId()] = answer
			}
		}
	}
	for match := range uint32(2) {
		end := &v1.MatchEnd{Match: match + 1, Ending: v1.Ending_ENDING_COMPLETED}
		a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_MatchEnd{MatchEnd: end}})
	}
	a.s.finish(nil)
	running.Wait()
	return answers, lines.String()
}

type counting struct {
	mu             *sync.Mutex
	ends           *int
	asked, mistake int
}

func (b *counting) Move(_ context.Context, ask *Ask) (Choice, error) {
	switch b.asked++; b.mistake {
	case 1:
		return Choice{}, errors.New("an error")
	case 2:
		panic("a panic")
	case 3:
		return Index(99), nil
	}
	return Index(2).WithNote(fmt.Sprint(b.asked)), nil
}

func (b *counting) Ended(end *End) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !end.Missed() {
		*b.ends++
	}
}

func TestEachMatchHasItsOwnBotAndAMistakeLosesOnlyTheMove(t *testing.T) {
	for mistake, why := range []string{"", "an error", "a panic", "move index 99"} {
		var mu sync.Mutex
		ends := 0
		player := &Player{New: func(*Match) Bot { return &counting{mu: &mu, ends: &ends, mistake: mistake} }}
		answers, logged := played(t, player)
		for _, answer := range answers {
			if why == "" && (answer.GetIndex() != 2 || answer.GetNote() != "1") {
				t.Error(answer)
			}
			if why != "" && (!answer.GetFailed() || !strings.HasPrefix(answer.GetNote(), "error: ") || !strings.Contains(answer.GetNote(), why)) {
				t.Error(answer)
			}
		}
		if !strings.Contains(logged, why) || ends != 2 {
			t.Errorf("%q: %d ends, %s", why, ends, logged)
		}
	}
}

// A slowBot answers at once, but at one ask it waits for a channel.
type slowBot struct {
	slow    uint64
	release chan struct{}
}

func (b slowBot) Move(_ context.Context, ask *Ask) (Choice, error) {
	if ask.ID() == b.slow {
		<-b.release
	}
	return Index(1), nil
}

// sizesOfMessages has the arena ask at eight matches in one message, and returns the number of
// answers in each message of the bot. A bot waits at the ask `slow`, until all others have
// answered.
func sizesOfMessages(t *testing.T, slow uint64) (sizes []int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a := newArena(t, true)
	a.answers()
	<-a.out.ready
	a.out.messages = nil
	a.out.maxWait = time.Minute // for a busy machine
	var asks []*v1.Ask
	for match := range uint32(8) {
		if match > 0 {
			a.receive(&v1.ArenaMessage{Body: &v1.ArenaMessage_MatchStart{MatchStart: &v1.MatchStart{Match: match + 1}}})
		}
		asks = append(asks, ask(uint64(match)+1, match+1, 3))
	}
	a.asks(asks...)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	release := make(chan struct{})
	player := &Player{New: func(*Match) Bot {
		return slowBot{slow, release}
	}}
	var running sync.WaitGroup
	running.Go(func() { (&botRunner{a.s, player, slog.Default()}).play(ctx) })
	for answered, last := 0, 8-min(1, int(slow)); answered < last; {
		for _, message := range a.out.next(ctx) {
			sizes = append(sizes, len(message.GetAnswers().GetAnswers()))
			answered += sizes[len(sizes)-1]
		}
		if ctx.Err() != nil {
			t.Fatal("answers waited for a bot")
		}
	}
	close(release)
	a.s.finish(nil)
	running.Wait()
	return sizes
}

func TestAnswersThatAreReadyAreSentTogether(t *testing.T) {
	if sizes := sizesOfMessages(t, 0); !slices.Equal(sizes, []int{8}) {
		t.Errorf("answers in each message: %v", sizes)
	}
}

func TestAnswersWaitForTheFirstMomentsOfAChoice(t *testing.T) {
	out := newOutbox()
	out.quick = time.Minute
	out.asks.addTaken(1)
	out.putAnswers([]*v1.Answer{{AskId: 1}})
	sent := make(chan []*v1.BotMessage)
	go func() { sent <- out.next(t.Context()) }()
	for turns := 0; len(out.ready) > 0 || turns < 10_000; turns++ { // a writer that does not wait sends now
		runtime.Gosched()
	}
	out.putAnswers([]*v1.Answer{{AskId: 2}})
	out.asks.addTaken(-1)
	if messages := <-sent; len(messages) != 1 || len(messages[0].GetAnswers().GetAnswers()) != 2 {
		t.Errorf("sent %v", messages)
	}
}

func TestNoAnswerWaitsForASlowBot(t *testing.T) {
	if sizes := sizesOfMessages(t, 3); !slices.Equal(sizes, []int{7}) {
		t.Errorf("answers in each message: %v", sizes)
	}
}

func TestIfMakingTheBotFailsItsAsksAreAnsweredAsErrors(t *testing.T) {
	answers, logged := played(t, &Player{New: func(*Match) Bot { panic("no bot") }})
	for _, answer := range answers {
		if !answer.GetFailed() || answer.GetNote() != "error: panic: no bot" {
			t.Error(answer)
		}
	}
	if !strings.Contains(logged, "making the bot failed") {
		t.Error(logged)
	}
}

type batch struct {
	started, ended int
	wrong          bool
}

func (b *batch) Started(*Match) { b.started++ }
func (b *batch) Ended(*End)     { b.ended++ }
func (b *batch) Moves(_ context.Context, asks []*Ask) ([]Choice, error) {
	if b.wrong {
		return nil, nil
	}
	choices := make([]Choice, len(asks))
	for place := range asks {
		choices[place] = Index(1)
	}
	return choices, nil
}

func TestABatchBotGetsWaitingAsksTogether(t *testing.T) {
	b := &batch{}
	answers, _ := played(t, &Player{Batch: b})
	if answers[7].GetIndex() != 1 || answers[8].GetIndex() != 1 || b.started != 2 || b.ended != 2 {
		t.Error(answers, b)
	}
	answers, logged := played(t, &Player{Batch: &batch{wrong: true}})
	if !strings.Contains(answers[8].GetNote(), "the bot returned 0 moves for 2 asks") || !strings.Contains(logged, "0 moves") {
		t.Error(answers, logged)
	}
}

func TestAGuestGetsARandomSuffix(t *testing.T) {
	player := &Player{Name: "ann", New: func(*Match) Bot { return nil }}
	one, err := helloOf(player, "guest:ann")
	if err != nil {
		t.Fatal(err)
	}
	other, _ := helloOf(player, "guest:ann")
	if len(one.GetToken()) != len("guest:ann:")+32 || one.GetToken() == other.GetToken() {
		t.Error(one.GetToken())
	}
	if with, _ := helloOf(player, "a-key"); with.GetToken() != "a-key" || len(with.GetGames()) != 19 {
		t.Error(with)
	}
	player.Games = []string{"whist"}
	var refused *RefusedError
	if _, err := helloOf(player, "a-key"); !errors.As(err, &refused) {
		t.Error(err)
	}
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		0: nil, ExitUnreachable: &UnreachableError{}, ExitRefused: &RefusedError{},
		ExitLied: &LiedError{Err: context.Canceled}, ExitInterrupted: context.Canceled,
	} {
		if got := exitCode(err); got != want {
			t.Errorf("%v ends with %d", err, got)
		}
	}
	if exitCode(misconfigured("?")) != ExitRefused {
		t.Error("a wrong option does not exit with ExitRefused")
	}
}
