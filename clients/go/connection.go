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

	v1 "cardarena/v1"
)

const playMethod = "/cardarena.v1.PlayService/Play"

// A connection is a bot's with the arena, over as many streams as it takes.
type connection struct {
	session *session
	redial  *redial
	dialer  *dialer
	log     *slog.Logger
}

// run opens stream after stream until play is over.
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
		var goesOn bool
		if next, goesOn, err = c.redial.after(end); err != nil || !goesOn {
			return err
		}
		switch {
		case end.redirect != "":
			c.log.Info("redirected", "endpoint", next.endpoint)
		case end.welcomed:
			c.log.Info("the stream ended; connecting again", "why", end.short())
		default:
			c.log.Info("no arena yet; trying again", "endpoint", next.endpoint, "why", end.short())
		}
	}
}

// stream plays on one stream until it ends. An error is one after which there is no other.
func (c *connection) stream(ctx context.Context, endpoint string) (streamEnd, error) {
	began := time.Now()
	conn, err := c.dialer.dial(endpoint)
	if err != nil {
		var wrong *MisconfiguredError
		if errors.As(err, &wrong) {
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
		c.session.opened(out)
		go write(ctx, stream, out)
		end, err = c.read(stream)
		end.draining = c.session.lost()
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		return end, err
	}
	end.lived = time.Since(began)
	if err != nil && !errors.Is(err, io.EOF) {
		told := status.Convert(err)
		end.code, end.details = told.Code(), told.Message()
		end.reason, end.retry = detailsOf(told)
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
				return // how the stream ended, its reader learns
			}
		}
	}
}

func (c *connection) read(stream grpc.ClientStream) (streamEnd, error) {
	var end streamEnd
	playing := -1
	for {
		message := &v1.ArenaMessage{}
		if err := stream.RecvMsg(message); err != nil {
			return end, err
		}
		r := c.session.receive(message, time.Now())
		for _, line := range r.say {
			c.log.Warn(line)
		}
		if r.refused != "" {
			return end, &RefusedError{Reason: r.refused}
		}
		if end.welcomed = end.welcomed || r.welcomed; r.redirect != "" {
			end.redirect = r.redirect
			return end, nil
		}
		seated := c.session.seated()
		if r.welcomed {
			c.log.Info("welcome to the arena", "matches", len(seated))
		} else if len(seated) != playing && len(seated) == 0 && playing > 0 {
			c.log.Info("waiting for a match")
		} else if len(seated) > playing && playing >= 0 {
			c.log.Info("playing", "matches", len(seated), "game", seated[len(seated)-1].Game())
		}
		playing = len(seated)
	}
}

// detailsOf are the reason that the end of a call names, and how long it asks a client to stay away.
func detailsOf(told *status.Status) (reason string, retry time.Duration) {
	for _, detail := range told.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = detail.GetReason()
		case *errdetails.RetryInfo:
			retry = min(maxRetry, max(retry, detail.GetRetryDelay().AsDuration()))
		}
	}
	return reason, retry
}
