package cardarena

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestErrorsWrapWhatWentWrong(t *testing.T) {
	_, _, err := newRedial("localhost:1", false).after(streamEnd{code: codes.Aborted, details: "taken over"})
	var refused *RefusedError
	if !errors.As(err, &refused) || status.Code(err) != codes.Aborted {
		t.Errorf("a takeover is %v, of status %v", err, status.Code(err))
	}
	late := newRedial("localhost:1", true)
	late.now = func() time.Time { return late.reached.Add(patience) }
	_, _, err = late.after(streamEnd{code: codes.Unavailable, details: "nobody"})
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || status.Code(err) != codes.Unavailable {
		t.Errorf("no arena is %v, of status %v", err, status.Code(err))
	}
	_, err = newDialer(&Options{Address: "https://localhost:1", CAFile: "nowhere.pem"})
	var wrong *MisconfiguredError
	if !errors.As(err, &wrong) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there is %v", err)
	}
}
