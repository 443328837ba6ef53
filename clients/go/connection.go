package cardarena

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

const playMethod = "/cardarena.v1.PlayService/Play"

// A connection is the connection of a bot to the arena: one stream after another.
type connection struct {
	session *session
	redial  *redial
	dialer  *dialer
	log     *slog.Logger
}

// run opens one stream after another until play ends.
func (c *connection) run(ctx context.Context) error {
	next := c.redial.first()
	for {
		select {
		case <-time.After(next.delay):
		case <-ctx.Done():
			return ctx.Err()
		}
		end, err := c.stream(ctx, next.endpoint)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		var ok bool
		if next, ok, err = c.redial.after(end); err != nil || !ok {
			return err
		}
		switch {
		case end.redirect != "":
			c.log.Info("the arena redirected the bot", "endpoint", next.endpoint)
		case end.welcomed:
			c.log.Info("the stream ended; reconnecting", "why", end.summary())
		default:
			c.log.Info("cannot connect to the arena; retrying", "endpoint", next.endpoint, "why", end.summary())
		}
	}
}

// stream plays on one stream until it ends. After an error no stream follows.
func (c *connection) stream(ctx context.Context, endpoint string) (streamEnd, error) {
	opened := time.Now()
	conn, err := c.dialer.dial(endpoint)
	if err != nil {
		var misconfigured *MisconfiguredError
		if errors.As(err, &misconfigured) {
			return streamEnd{}, err
		}
		return streamEnd{code: codes.Unavailable, details: err.Error()}, nil
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := conn.NewStream(ctx, description, playMethod)
	end := streamEnd{}
	if err == nil {
		out := newOutbox()
		c.session.streamOpened(out)
		go write(ctx, stream, out)
		end, err = c.read(stream)
		end.draining = c.session.streamLost()
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		return end, err
	}
	end.openFor = time.Since(opened)
	if err != nil && !errors.Is(err, io.EOF) {
		converted := status.Convert(err)
		end.code, end.details = converted.Code(), converted.Message()
		end.reason, end.retryDelay = errorDetails(converted)
	}
	return end, nil
}

func write(ctx context.Context, stream grpc.ClientStream, out *outbox) {
	for {
		messages := out.next(ctx)
		if messages == nil {
			return
		}
		for _, message := range messages {
			if stream.SendMsg(message) != nil {
				return // the reader gets the status of the stream
			}
		}
	}
}

func (c *connection) read(stream grpc.ClientStream) (streamEnd, error) {
	var end streamEnd
	matchesBefore := -1
	for {
		message := &v1.ArenaMessage{}
		if err := stream.RecvMsg(message); err != nil {
			return end, err
		}
		r := c.session.receive(message, time.Now())
		for _, line := range r.warnings {
			c.log.Warn(line)
		}
		if r.refused != "" {
			return end, &RefusedError{Reason: r.refused}
		}
		if end.welcomed = end.welcomed || r.welcomed; r.redirect != "" {
			end.redirect = r.redirect
			return end, nil
		}
		matches := c.session.matches()
		if r.welcomed {
			c.log.Info("connected to the arena", "matches", len(matches))
		} else if len(matches) == 0 && matchesBefore > 0 {
			c.log.Info("waiting for a match")
		} else if len(matches) > matchesBefore && matchesBefore >= 0 {
			c.log.Info("playing", "matches", len(matches), "game", matches[len(matches)-1].Game())
		}
		matchesBefore = len(matches)
	}
}

// errorDetails are the reason and the delay that the arena gave with the end of a call.
func errorDetails(end *status.Status) (reason string, retryDelay time.Duration) {
	for _, detail := range end.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = detail.GetReason()
		case *errdetails.RetryInfo:
			retryDelay = min(maxRetryDelay, max(retryDelay, detail.GetRetryDelay().AsDuration()))
		}
	}
	return reason, retryDelay
}
