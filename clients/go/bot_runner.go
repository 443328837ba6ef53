package cardarena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// A botRunner calls the author's bots, and handles their errors.
type botRunner struct {
	session *session
	player  *Player
	log     *slog.Logger
}

// play calls the bots until play ends, and waits for them to return.
func (b *botRunner) play(ctx context.Context) {
	if b.player.Batch != nil {
		b.playBatches(ctx)
	} else {
		b.playMatches(ctx)
	}
}

// A taskQueue has the tasks of one match. put never blocks.
type taskQueue struct {
	mu    sync.Mutex
	tasks []botTask
	ready chan struct{}
}

func (q *taskQueue) put(task botTask) {
	q.mu.Lock()
	q.tasks = append(q.tasks, task)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *taskQueue) take() []botTask {
	for {
		q.mu.Lock()
		tasks := q.tasks
		q.tasks = nil
		q.mu.Unlock()
		if len(tasks) > 0 {
			return tasks
		}
		<-q.ready
	}
}

// playMatches plays each match on a goroutine of its own.
func (b *botRunner) playMatches(ctx context.Context) {
	var running sync.WaitGroup
	queues := map[*Match]*taskQueue{}
	for {
		tasks, ok := b.session.take(ctx)
		if !ok {
			break
		}
		for _, task := range tasks {
			match := task.match()
			queue := queues[match]
			if task.started != nil {
				queue = &taskQueue{ready: make(chan struct{}, 1)}
				queues[match] = queue
				running.Go(func() { b.playMatch(ctx, match, queue) })
			}
			if queue != nil {
				queue.put(task)
			}
			if task.ended != nil {
				delete(queues, match)
			}
		}
	}
	for match, queue := range queues {
		queue.put(botTask{ended: &End{Message: &v1.MatchEnd{Match: match.Number()}, Match: match}})
	}
	if ctx.Err() == nil { // a canceled context does not wait for bots
		running.Wait()
	}
}

func (t botTask) match() *Match {
	switch {
	case t.started != nil:
		return t.started
	case t.ask != nil:
		return t.ask.Match
	default:
		return t.ended.Match
	}
}

func (b *botRunner) playMatch(ctx context.Context, match *Match, queue *taskQueue) {
	var bot Bot
	var makeErr error
	for {
		for _, task := range queue.take() {
			switch {
			case task.started != nil:
				makeErr = catchPanic(func() error { bot = b.player.New(match); return nil })
				b.logFailure(makeErr, "making the bot failed; fallbacks are played", "match", match.Number())
			case task.ask != nil:
				b.choose(ctx, task.ask, bot, makeErr)
			default:
				if ender, ok := bot.(Ender); ok && makeErr == nil {
					err := catchPanic(func() error { ender.Ended(task.ended); return nil })
					b.logFailure(err, "the bot failed at the end of a match", "match", match.Number())
				}
				return
			}
		}
	}
}

func (b *botRunner) choose(ctx context.Context, ask *Ask, bot Bot, makeErr error) {
	ctx, ok := b.session.deliver(ctx, ask)
	if !ok {
		return
	}
	if makeErr != nil {
		b.session.answer(failedAnswer(ask, makeErr))
		return
	}
	var answer *v1.Answer
	err := catchPanic(func() error {
		choice, err := bot.Move(ctx, ask)
		if err != nil {
			return err
		}
		answer, err = choice.answer(ask)
		return err
	})
	if err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			b.session.abandon(ask)
			return
		}
		b.logFailure(err, "the bot failed; the fallback is played", "ask", ask.ID(), "match", ask.Match.Number())
		answer = failedAnswer(ask, err)
	}
	b.session.answer(answer)
}

// playBatches passes all waiting asks to the batch bot together, on this goroutine.
func (b *botRunner) playBatches(ctx context.Context) {
	for {
		tasks, ok := b.session.take(ctx)
		if !ok {
			return
		}
		var asks []*Ask
		for _, task := range tasks {
			switch {
			case task.started != nil:
				err := catchPanic(func() error { b.player.Batch.Started(task.started); return nil })
				b.logFailure(err, "the bot failed at the start of a match", "match", task.started.Number())
			case task.ended != nil:
				err := catchPanic(func() error { b.player.Batch.Ended(task.ended); return nil })
				b.logFailure(err, "the bot failed at the end of a match", "match", task.ended.Match.Number())
			default:
				if _, ok := b.session.deliver(ctx, task.ask); ok {
					asks = append(asks, task.ask)
				}
			}
		}
		if len(asks) > 0 {
			b.session.answer(b.chooseAll(ctx, asks)...)
		}
	}
}

func (b *botRunner) chooseAll(ctx context.Context, asks []*Ask) []*v1.Answer {
	answers := make([]*v1.Answer, len(asks))
	var choices []Choice
	batchErr := catchPanic(func() (err error) {
		choices, err = b.player.Batch.Moves(ctx, asks)
		if err == nil && len(choices) != len(asks) {
			err = fmt.Errorf("the bot returned %d moves for %d asks", len(choices), len(asks))
		}
		return err
	})
	b.logFailure(batchErr, "the bot failed at a batch; fallbacks are played", "asks", len(asks))
	for i, ask := range asks {
		err := batchErr
		if err == nil {
			answers[i], err = choices[i].answer(ask)
			b.logFailure(err, "the bot failed; the fallback is played", "ask", ask.ID())
		}
		if err != nil {
			answers[i] = failedAnswer(ask, err)
		}
	}
	return answers
}

func (b *botRunner) logFailure(err error, message string, attributes ...any) {
	if err != nil {
		b.log.Error(message, append(attributes, "err", err)...)
	}
}

// A panicError is a panic of a bot.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// LogValue adds the stack.
func (e *panicError) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("panic: %v\n%s", e.value, e.stack))
}

// catchPanic calls the bot, and turns a panic into an error.
func catchPanic(call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value, debug.Stack()}
		}
	}()
	return call()
}
