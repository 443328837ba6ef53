package cardarena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	v1 "cardarena/v1"
)

// An author is the author's code, of either kind, with its session.
type author struct {
	session *session
	player  *Player
	log     *slog.Logger
}

// play hands on work until play is over, and waits for the author's code to return.
func (a *author) play(ctx context.Context) {
	if a.player.Batch != nil {
		a.playBatches(ctx)
	} else {
		a.playEach(ctx)
	}
}

// A mailbox has the items of one match. It never holds up who puts one in.
type mailbox struct {
	mu    sync.Mutex
	items []item
	ready chan struct{}
}

func (m *mailbox) put(one item) {
	m.mu.Lock()
	m.items = append(m.items, one)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []item {
	for {
		m.mu.Lock()
		items := m.items
		m.items = nil
		m.mu.Unlock()
		if len(items) > 0 {
			return items
		}
		<-m.ready
	}
}

// playEach plays every match on a goroutine of its own.
func (a *author) playEach(ctx context.Context) {
	var running sync.WaitGroup
	boxes := map[*Match]*mailbox{}
	for {
		work, goesOn := a.session.take(ctx)
		if !goesOn {
			break
		}
		for _, one := range work {
			match := one.match()
			box := boxes[match]
			if one.started != nil {
				box = &mailbox{ready: make(chan struct{}, 1)}
				boxes[match] = box
				running.Go(func() { a.playMatch(ctx, match, box) })
			}
			if box != nil {
				box.put(one)
			}
			if one.ended != nil {
				delete(boxes, match)
			}
		}
	}
	for match, box := range boxes {
		box.put(item{ended: &End{Message: &v1.MatchEnd{Match: match.Number()}, Match: match}})
	}
	if ctx.Err() == nil { // else the author's code may take its time, and nobody waits for it
		running.Wait()
	}
}

func (i item) match() *Match {
	switch {
	case i.started != nil:
		return i.started
	case i.ask != nil:
		return i.ask.Match
	default:
		return i.ended.Match
	}
}

func (a *author) playMatch(ctx context.Context, match *Match, box *mailbox) {
	var bot Bot
	var broken error
	for {
		for _, one := range box.take() {
			switch {
			case one.started != nil:
				broken = guarded(func() error { bot = a.player.New(match); return nil })
				a.logFailure(broken, "the bot failed at the start of its match, so first moves are played", "match", match.Number())
			case one.ask != nil:
				a.decide(ctx, one.ask, bot, broken)
			default:
				if ender, ok := bot.(Ender); ok && broken == nil {
					err := guarded(func() error { ender.Ended(one.ended); return nil })
					a.logFailure(err, "the bot failed at the end of its match", "match", match.Number())
				}
				return
			}
		}
	}
}

func (a *author) decide(ctx context.Context, ask *Ask, bot Bot, broken error) {
	ctx, wanted := a.session.show(ctx, ask)
	if !wanted {
		return
	}
	if broken != nil {
		a.session.answer(failed(ask, broken))
		return
	}
	var answer *v1.Answer
	err := guarded(func() error {
		choice, err := bot.Move(ctx, ask)
		if err != nil {
			return err
		}
		answer, err = choice.answer(ask)
		return err
	})
	if err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			a.session.giveUp(ask)
			return
		}
		a.logFailure(err, "the bot failed at an ask, so the first move is played", "ask", ask.ID(), "match", ask.Match.Number())
		answer = failed(ask, err)
	}
	a.session.answer(answer)
}

// playBatches gives all asks that wait to one object, on this goroutine.
func (a *author) playBatches(ctx context.Context) {
	for {
		work, goesOn := a.session.take(ctx)
		if !goesOn {
			return
		}
		var asks []*Ask
		for _, one := range work {
			switch {
			case one.started != nil:
				err := guarded(func() error { a.player.Batch.Started(one.started); return nil })
				a.logFailure(err, "the bot failed at the start of a match", "match", one.started.Number())
			case one.ended != nil:
				err := guarded(func() error { a.player.Batch.Ended(one.ended); return nil })
				a.logFailure(err, "the bot failed at the end of a match", "match", one.ended.Match.Number())
			default:
				if _, wanted := a.session.show(ctx, one.ask); wanted {
					asks = append(asks, one.ask)
				}
			}
		}
		if len(asks) > 0 {
			a.session.answer(a.decideAll(ctx, asks)...)
		}
	}
}

func (a *author) decideAll(ctx context.Context, asks []*Ask) []*v1.Answer {
	answers := make([]*v1.Answer, len(asks))
	var choices []Choice
	err := guarded(func() (err error) {
		choices, err = a.player.Batch.Moves(ctx, asks)
		if err == nil && len(choices) != len(asks) {
			err = fmt.Errorf("%d moves were chosen for %d asks", len(choices), len(asks))
		}
		return err
	})
	a.logFailure(err, "the bot failed at a batch, so first moves are played", "asks", len(asks))
	for place, ask := range asks {
		why := err
		if why == nil {
			answers[place], why = choices[place].answer(ask)
			a.logFailure(why, "the bot failed at an ask, so the first move is played", "ask", ask.ID())
		}
		if why != nil {
			answers[place] = failed(ask, why)
		}
	}
	return answers
}

func (a *author) logFailure(err error, message string, where ...any) {
	if err != nil {
		a.log.Error(message, append(where, "err", err)...)
	}
}

// A panicError is a panic of the author's code.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// LogValue has the stack as well.
func (e *panicError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", e.value, e.stack))
}

// guarded calls the author's code; a panic is an error.
func guarded(call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return call()
}
