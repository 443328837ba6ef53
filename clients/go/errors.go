package cardarena

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/status"
)

// A RefusedError means that the arena does not accept this bot. Another attempt would give the same
// result.
type RefusedError struct {
	Reason string
	// Err is the gRPC status with which the arena ended the call. It is nil without one.
	Err error
}

func (e *RefusedError) Error() string { return e.Reason }

// Unwrap returns the gRPC status, for status.Code.
func (e *RefusedError) Unwrap() error { return e.Err }

// An UnreachableError means that the bot could not connect to the arena within the time it had.
type UnreachableError struct {
	Reason string
	// Err is the gRPC status of the last call.
	Err error
}

func (e *UnreachableError) Error() string { return e.Reason }

// Unwrap returns the gRPC status of the last call.
func (e *UnreachableError) Unwrap() error { return e.Err }

// A LiedError means that the arena lied about its deals. The bot plays to the end; then Play
// returns this error.
type LiedError struct {
	// Lies are the lies, one sentence each.
	Lies []string
	// Err is the other error with which play ended. It is nil if play ended in order.
	Err error
}

func (e *LiedError) Error() string { return strings.Join(e.Lies, "\n") }

// Unwrap returns the other error with which play ended.
func (e *LiedError) Unwrap() error { return e.Err }

// A MisconfiguredError means that the options do not work together, name a bad file, or would send
// the token unprotected.
type MisconfiguredError struct {
	Reason string
	// Err is the error of a file, or nil.
	Err error
}

func (e *MisconfiguredError) Error() string { return e.Reason }

// Unwrap returns the error of a file.
func (e *MisconfiguredError) Unwrap() error { return e.Err }

// misconfigured wraps the error that the format has as %w.
func misconfigured(format string, arguments ...any) error {
	err := fmt.Errorf(format, arguments...)
	return &MisconfiguredError{err.Error(), errors.Unwrap(err)}
}

// err is the end of a stream as a gRPC error, or nil if it ended in order.
func (e streamEnd) err() error { return status.Error(e.code, e.details) }
