package cardarena

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

const (
	backoffBase = 200 * time.Millisecond
	backoffCap  = 30 * time.Second
	// steady: a stream that lived this long makes up for all failures before it.
	steady = 10 * time.Second
	// patience is how long a bot that plays once tries to reach its arena.
	patience = 10 * time.Second
	// maxHops are redirects in a row that are followed at once; further ones wait as failures do.
	maxHops = 4
	// maxRetry: a longer time that an arena asks for is taken as this.
	maxRetry = 300 * time.Second
)

// final are statuses after which trying again would change nothing.
var final = map[codes.Code]string{
	codes.Unauthenticated:    "the arena does not take this token",
	codes.PermissionDenied:   "the arena does not let this token play",
	codes.FailedPrecondition: "the arena turned the bot away",
	codes.InvalidArgument:    "the arena did not accept what the bot said of itself",
	codes.Aborted:            "another bot took over with the same token; each needs its own",
	codes.Unimplemented:      "this server is no arena, or one of another version",
}

// passing are reasons of RESOURCE_EXHAUSTED that pass; any other is a mistake of the client's.
var passing = map[string]bool{"BUSY": true, "TOO_MANY_OPEN": true, "NOT_READING": true}

// A streamEnd is how a stream ended.
type streamEnd struct {
	code     codes.Code
	details  string
	welcomed bool
	lived    time.Duration
	draining bool
	redirect string
	retry    time.Duration
	reason   string
}

// short is the reason in short: gRPC's text of a failed connection is long, with the cause last.
func (e streamEnd) short() string {
	if e.details == "" {
		return e.code.String()
	}
	if !e.welcomed && e.code == codes.Unavailable {
		return e.details[strings.LastIndex(e.details, ": ")+1:]
	}
	return e.details
}

// An attempt is one more stream.
type attempt struct {
	endpoint string
	delay    time.Duration
}

// A redial decides after each stream whether there is another: with full jitter, and where.
type redial struct {
	address  string
	once     bool
	now      func() time.Time
	jitter   func(most time.Duration) time.Duration
	failures int
	hops     int
	endpoint string
	reached  time.Time
}

func newRedial(address string, once bool) *redial {
	jitter := func(most time.Duration) time.Duration { return rand.N(most + 1) }
	return &redial{address: address, endpoint: address, once: once, now: time.Now, jitter: jitter, reached: time.Now()}
}

func (r *redial) first() attempt { return attempt{r.address, 0} }

// after is the stream that follows one that ended so; false if it was the last.
func (r *redial) after(end streamEnd) (attempt, bool, error) {
	if end.welcomed {
		r.reached = r.now()
	}
	if end.lived >= steady {
		r.failures, r.hops = 0, 0
	}
	if end.redirect != "" {
		r.endpoint = end.redirect
		if r.hops++; r.hops <= maxHops {
			return attempt{r.endpoint, 0}, true, nil
		}
		return attempt{r.endpoint, r.delay(0)}, true, nil
	}
	if words, ok := final[end.code]; ok {
		if end.details != "" {
			words += " (" + end.details + ")"
		}
		return attempt{}, false, &RefusedError{words, end.err()}
	}
	if end.code == codes.ResourceExhausted && !passing[end.reason] {
		return attempt{}, false, &RefusedError{fmt.Sprintf("the arena takes no more of what this bot says (%s)", end.short()), end.err()}
	}
	if end.code == codes.OK && (r.once || end.draining) {
		return attempt{}, false, nil
	}
	if !end.welcomed {
		r.endpoint = r.address
	}
	delay := r.delay(end.retry)
	if r.once {
		left := patience - r.now().Sub(r.reached)
		if left <= 0 {
			return attempt{}, false, &UnreachableError{fmt.Sprintf("no arena at %s for %v (%s)", r.address, patience, end.short()), end.err()}
		}
		delay = min(delay, left)
	}
	return attempt{r.endpoint, delay}, true, nil
}

// delay comes on top of what the arena asked for. As many bots were told the same, they spread
// over as much time again.
func (r *redial) delay(retry time.Duration) time.Duration {
	most := min(backoffCap, backoffBase<<min(r.failures, 16))
	r.failures++
	return retry + r.jitter(max(most, retry))
}
