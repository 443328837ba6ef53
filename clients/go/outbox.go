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

// quickChoiceTime is the maximum time that answers wait for a goroutine after it has taken its ask.
const quickChoiceTime = 100 * time.Microsecond

// An askCount counts asks without an answer.
type askCount struct {
	// queued counts the asks that no goroutine has taken yet.
	queued     atomic.Int32
	noneQueued chan struct{}
	// taken counts the asks that a goroutine has taken and not answered yet.
	taken atomic.Int32
	// lastTaken is the time since began at which the last ask was taken.
	lastTaken atomic.Int64
	began     time.Time
}

func newAskCount() *askCount {
	return &askCount{noneQueued: make(chan struct{}, 1), began: time.Now()}
}

func (c *askCount) addQueued(more int32) {
	if c.queued.Add(more) == 0 {
		select {
		case c.noneQueued <- struct{}{}:
		default:
		}
	}
}

func (c *askCount) addTaken(more int32) {
	if more > 0 {
		c.lastTaken.Store(int64(time.Since(c.began)))
	}
	c.taken.Add(more)
}

// choosesSince tells whether a goroutine took its ask less than maxAge ago and has not answered it.
func (c *askCount) choosesSince(maxAge time.Duration) bool {
	return c.taken.Load() > 0 && time.Since(c.began)-time.Duration(c.lastTaken.Load()) < maxAge
}

// An outbox has the messages that wait to be sent on one stream.
//
// Answers gather until the writer is free and each goroutine with a queued ask has taken it, so
// that answers that are ready go in one message. An answer waits for a bot that is choosing a
// move only during the first moments of its choice, in which a quick bot answers.
type outbox struct {
	mu       sync.Mutex
	messages []*v1.BotMessage
	answers  []*v1.Answer
	limits   *v1.Limits
	ready    chan struct{}
	asks     *askCount     // of the session
	maxWait  time.Duration // maxGatherTime
	quick    time.Duration // quickChoiceTime
}

func newOutbox() *outbox {
	return &outbox{
		ready: make(chan struct{}, 1), limits: &v1.Limits{}, asks: newAskCount(),
		maxWait: maxGatherTime, quick: quickChoiceTime,
	}
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

// gather waits for the goroutines that have a queued ask and have not run yet, and for quick choices.
func (o *outbox) gather() {
	if o.asks.queued.Load() > 0 {
		timeout := time.NewTimer(o.maxWait)
		defer timeout.Stop()
		for o.asks.queued.Load() > 0 {
			select {
			case <-o.asks.noneQueued:
			case <-timeout.C:
				return
			}
		}
	}
	for o.asks.choosesSince(o.quick) {
		runtime.Gosched()
	}
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
