package cardarena

import (
	"fmt"
	"math/bits"
	"time"
)

const (
	// fewestAsks is the number of asks before the first note of their times.
	fewestAsks = 4
	// notedTime is the mean time of an ask in the queue and on the network from which there is a note.
	notedTime = 10 * time.Millisecond
)

// askTimes are the times of a match's asks in the bot's own queue and on the network, which only the bot's side can
// tell from thinking. Notes of them are due after 4, 8, 16 … asks that the bot answered.
type askTimes struct {
	asks, measured int
	queue, network time.Duration
	due            bool
	arrivedAt      time.Time
	deliveredAt    time.Time
	answeredAt     time.Time
}

// arrived begins with the next ask. The round trip is that of the ask before, and 0 if it is not known.
func (t *askTimes) arrived(now time.Time, lastRoundTrip time.Duration) {
	if !t.deliveredAt.IsZero() && !t.answeredAt.IsZero() {
		t.asks++
		t.queue += t.deliveredAt.Sub(t.arrivedAt)
		if lastRoundTrip > 0 {
			t.measured++
			t.network += max(0, lastRoundTrip-t.answeredAt.Sub(t.arrivedAt))
		}
		if t.asks >= fewestAsks && bits.OnesCount(uint(t.asks)) == 1 {
			t.due = t.queue+t.network >= notedTime*time.Duration(t.asks)
		}
	}
	t.arrivedAt, t.deliveredAt, t.answeredAt = now, time.Time{}, time.Time{}
}

// note is the note that `arena match why` reads. It is due again after twice as many asks.
func (t *askTimes) note() string {
	t.due = false
	return fmt.Sprintf("times: %d asks waited %.3f s in the own queue; %d took %.3f s on the network",
		t.asks, t.queue.Seconds(), t.measured, t.network.Seconds())
}
