package cardarena

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/status"
)

// A RefusedError says that the arena will not play with this bot, and asking again would not help.
type RefusedError struct {
	Reason string
	// Err is the status with which the arena ended the call; nil if it was not by one.
	Err error
}

func (e *RefusedError) Error() string { return e.Reason }

// Unwrap gives the status, which status.Code of gRPC reads.
func (e *RefusedError) Unwrap() error { return e.Err }

// An UnreachableError says that the arena could not be reached for as long as the bot was to try.
type UnreachableError struct {
	Reason string
	// Err is how the last call ended; nil if in order.
	Err error
}

func (e *UnreachableError) Error() string { return e.Reason }

// Unwrap gives how the last call ended.
func (e *UnreachableError) Unwrap() error { return e.Err }

// A LiedError says that the arena was caught at lies about its deals. A bot that was lied to plays
// on; the error comes when play is over.
type LiedError struct {
	Lies []string
	// Err is how play ended besides; nil if in order.
	Err error
}

func (e *LiedError) Error() string { return strings.Join(e.Lies, "\n") }

// Unwrap gives how play ended besides.
func (e *LiedError) Unwrap() error { return e.Err }

// A MisconfiguredError says that the bot was told to connect in a way that cannot work or is not safe.
type MisconfiguredError struct {
	Reason string
	// Err is what went wrong with a file; nil if nothing did.
	Err error
}

func (e *MisconfiguredError) Error() string { return e.Reason }

// Unwrap gives what went wrong with a file.
func (e *MisconfiguredError) Unwrap() error { return e.Err }

// misconfigured wraps the error that its format names by %w.
func misconfigured(format string, arguments ...any) error {
	err := fmt.Errorf(format, arguments...)
	return &MisconfiguredError{err.Error(), errors.Unwrap(err)}
}

// err is the end as an error of gRPC; nil for one in order.
func (e streamEnd) err() error { return status.Error(e.code, e.details) }
