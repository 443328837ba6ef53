package cardarena

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestErrorsWrapTheirCause(t *testing.T) {
	_, _, err := newRedial("localhost:1", false).after(streamEnd{code: codes.Aborted, details: "taken over"})
	var refused *RefusedError
	if !errors.As(err, &refused) || status.Code(err) != codes.Aborted {
		t.Errorf("a takeover is %v, of status %v", err, status.Code(err))
	}
	once := newRedial("localhost:1", true)
	once.now = func() time.Time { return once.connectedAt.Add(onceTimeout) }
	_, _, err = once.after(streamEnd{code: codes.Unavailable, details: "connection refused"})
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || status.Code(err) != codes.Unavailable {
		t.Errorf("an unreachable arena is %v, of status %v", err, status.Code(err))
	}
	_, err = newDialer(&Options{Address: "https://localhost:1", CAFile: "nowhere.pem"})
	var misconfigured *MisconfiguredError
	if !errors.As(err, &misconfigured) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
}
