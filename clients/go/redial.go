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
	// resetsBackoff is how long a stream must be open to reset the backoff.
	resetsBackoff = 10 * time.Second
	// onceTimeout is how long a bot with Options.Once tries to connect.
	onceTimeout = 10 * time.Second
	// maxImmediateRedirects is the number of redirects in a row that are followed without delay.
	// Further ones wait as after a failure.
	maxImmediateRedirects = 4
	// maxRetryDelay is the maximum delay that an arena can request before the next stream.
	maxRetryDelay = 300 * time.Second
)

// refusals are the statuses after which another attempt would give the same result.
var refusals = map[codes.Code]string{
	codes.Unauthenticated:    "the arena rejected the token",
	codes.PermissionDenied:   "the token does not allow to play at this arena",
	codes.FailedPrecondition: "the arena rejected the bot",
	codes.InvalidArgument:    "the arena rejected the bot's hello message",
	codes.Aborted:            "another bot connected with the same token; use a token for each bot",
	codes.Unimplemented:      "the server is not an arena, or speaks another version of the protocol",
}

// temporaryReasons are the reasons of RESOURCE_EXHAUSTED that go away by themselves. Any other is
// the bot's mistake.
var temporaryReasons = map[string]bool{"BUSY": true, "TOO_MANY_OPEN": true, "NOT_READING": true}

// A streamEnd describes how a stream ended.
type streamEnd struct {
	code       codes.Code
	details    string
	welcomed   bool
	openFor    time.Duration
	draining   bool
	redirect   string        // where the arena sent the bot; empty if nowhere
	retryDelay time.Duration // requested by the arena
	reason     string        // of google.rpc.ErrorInfo; empty without one
}

// summary is the status in one line. gRPC's text of a failed connection is long, with the cause
// last.
func (e streamEnd) summary() string {
	if e.details == "" {
		return e.code.String()
	}
	if !e.welcomed && e.code == codes.Unavailable {
		return e.details[strings.LastIndex(e.details, ": ")+1:]
	}
	return e.details
}

// An attempt is the next stream.
type attempt struct {
	endpoint string
	delay    time.Duration
}

// A redial decides after each stream whether, when and where the bot connects again. Delays grow
// exponentially, with full jitter.
type redial struct {
	address     string
	once        bool
	now         func() time.Time
	jitter      func(max time.Duration) time.Duration
	failures    int
	redirects   int
	endpoint    string
	connectedAt time.Time
}

func newRedial(address string, once bool) *redial {
	jitter := func(max time.Duration) time.Duration { return rand.N(max + 1) }
	return &redial{address: address, endpoint: address, once: once, now: time.Now, jitter: jitter, connectedAt: time.Now()}
}

func (r *redial) first() attempt { return attempt{r.address, 0} }

// after returns the next stream after one that ended, or false if play is over.
func (r *redial) after(end streamEnd) (attempt, bool, error) {
	if end.welcomed {
		r.connectedAt = r.now()
	}
	if end.openFor >= resetsBackoff {
		r.failures, r.redirects = 0, 0
	}
	if end.redirect != "" {
		r.endpoint = end.redirect
		if r.redirects++; r.redirects <= maxImmediateRedirects {
			return attempt{r.endpoint, 0}, true, nil
		}
		return attempt{r.endpoint, r.delay(0)}, true, nil
	}
	if reason, ok := refusals[end.code]; ok {
		if end.details != "" {
			reason += " (" + end.details + ")"
		}
		return attempt{}, false, &RefusedError{reason, end.err()}
	}
	if end.code == codes.ResourceExhausted && !temporaryReasons[end.reason] {
		return attempt{}, false, &RefusedError{fmt.Sprintf("the arena closed the stream because the bot exceeded a limit (%s)", end.summary()), end.err()}
	}
	if end.code == codes.OK && (r.once || end.draining) {
		return attempt{}, false, nil
	}
	if !end.welcomed {
		r.endpoint = r.address
	}
	delay := r.delay(end.retryDelay)
	if r.once {
		left := onceTimeout - r.now().Sub(r.connectedAt)
		if left <= 0 {
			return attempt{}, false, &UnreachableError{fmt.Sprintf("no connection to the arena at %s for %v (%s)", r.address, onceTimeout, end.summary()), end.err()}
		}
		delay = min(delay, left)
	}
	return attempt{r.endpoint, delay}, true, nil
}

// delay is the time before the next stream: what the arena requested, and a random time on top.
// Many bots may have the same request, so the random time is at least as long.
func (r *redial) delay(requested time.Duration) time.Duration {
	limit := min(backoffCap, backoffBase<<min(r.failures, 16))
	r.failures++
	return requested + r.jitter(max(limit, requested))
}
