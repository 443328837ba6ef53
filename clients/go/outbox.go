package cardarena

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// maxGatherTime is the maximum time that answers wait for goroutines that have a queued ask and have not run
// yet.
const maxGatherTime = time.Millisecond

// An askCount counts the queued asks that no goroutine has taken yet.
type askCount struct {
	count atomic.Int32
	zero  chan struct{}
}

func newAskCount() *askCount { return &askCount{zero: make(chan struct{}, 1)} }

func (c *askCount) add(more int32) {
	if c.count.Add(more) == 0 {
		select {
		case c.zero <- struct{}{}:
		default:
		}
	}
}

// An outbox has the messages that wait to be sent on one stream.
//
// Answers gather until the writer is free and each goroutine with a queued ask has taken it, so
// that answers that are ready go in one message. An answer never waits for a bot that is choosing a
// move.
type outbox struct {
	mu       sync.Mutex
	messages []*v1.BotMessage
	answers  []*v1.Answer
	limits   *v1.Limits
	ready    chan struct{}
	queued   *askCount     // of the session
	maxWait  time.Duration // maxGatherTime
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), limits: &v1.Limits{}, queued: newAskCount(), maxWait: maxGatherTime}
}

func (o *outbox) setLimits(limits *v1.Limits) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limits = limits
}

func (o *outbox) put(messages ...*v1.BotMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, messages...)
	o.signal()
}

func (o *outbox) putAnswers(answers []*v1.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = append(o.answers, answers...)
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// next waits for messages. It returns nil when the context is done.
func (o *outbox) next(ctx context.Context) []*v1.BotMessage {
	for {
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil
		}
		o.gather()
		o.mu.Lock()
		messages := o.messages
		if len(o.answers) > 0 {
			messages = append(messages, o.frames(o.answers)...)
		}
		o.messages, o.answers = nil, nil
		o.mu.Unlock()
		if len(messages) > 0 {
			return messages
		}
	}
}

// gather waits for the goroutines that have a queued ask and have not run yet.
func (o *outbox) gather() {
	if o.queued.count.Load() > 0 {
		timeout := time.NewTimer(o.maxWait)
		defer timeout.Stop()
		for o.queued.count.Load() > 0 {
			select {
			case <-o.queued.zero:
			case <-timeout.C:
				return
			}
		}
	}
	runtime.Gosched() // the goroutine that took the last ask may answer at once
}

// frames puts answers into as few messages as the arena's limits allow.
func (o *outbox) frames(answers []*v1.Answer) []*v1.BotMessage {
	if limit := int(o.limits.GetMaxAnswers()); limit > 0 && len(answers) > limit {
		return append(o.frames(answers[:limit]), o.frames(answers[limit:])...)
	}
	message := &v1.BotMessage{Body: &v1.BotMessage_Answers{Answers: &v1.Answers{Answers: answers}}}
	size, maxSize := proto.Size(message), int(o.limits.GetMaxMessageBytes())
	if maxSize == 0 || size <= maxSize {
		return []*v1.BotMessage{message}
	}
	if half := len(answers) / 2; half > 0 {
		return append(o.frames(answers[:half]), o.frames(answers[half:])...)
	}
	note := fmt.Sprintf("error: the answer has %d bytes, the limit is %d", size, maxSize)
	short := &v1.Answer{AskId: answers[0].GetAskId(), Choice: &v1.Answer_Failed{Failed: true}, Note: note}
	return []*v1.BotMessage{{Body: &v1.BotMessage_Answers{Answers: &v1.Answers{Answers: []*v1.Answer{short}}}}}
}
