package cardarena

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

const (
	defaultNoteChars = 200
	// maxRememberedEnds limits the remembered ends of matches. An arena repeats at most the last 64.
	maxRememberedEnds = 1024
	// contract is the contract version that this SDK supports.
	contract = 1
)

// A session is the state of a bot at the arena, across all its streams. It reads no socket, and
// does not call the bot.
//
// An ask is queued, then delivered to the bot, then answered. The arena can settle it at any time.
// The arena does not acknowledge answers. The session therefore keeps an answer until the next ask
// of the match: if the arena repeats the ask, the session repeats the answer and does not call the
// bot again.
type session struct {
	mu        sync.Mutex
	hello     *v1.Hello
	askForced bool
	deals     *deals // nil if the bot takes no part in fair deals

	out              *outbox // of the current stream; nil without a stream
	welcomed         bool    // whether the arena sent welcome on the current stream
	draining         bool
	epoch            uint32
	limits           *v1.Limits
	seats            map[uint32]*seat
	open             map[uint64]*seat // by the id of the last ask
	ended            map[uint32]bool  // matches whose end the arena has sent
	endedOldestFirst []uint32

	tasks []botTask
	wake  chan struct{}
	asks  *askCount
	now   func() time.Time
	// lastAnswered is the seat of the last answer, of which is the arena's last round trip; nil if it was sent again.
	lastAnswered *seat
	over         bool
	playErr      error
}

// A seat is the bot's seat at a match.
type seat struct {
	match  *Match
	ask    *Ask       // the last ask, open or not
	answer *v1.Answer // to the last ask
	times  askTimes
}

// undelivered are the events that the bot did not receive, or nil.
func (s *seat) undelivered() *askEvents {
	if s.ask == nil || s.ask.delivered {
		return nil
	}
	return s.ask.allEvents()
}

// A botTask is a call of the bot that is due. One of the three is set.
type botTask struct {
	started *Match
	ask     *Ask
	ended   *End
}

// received is what to do about a message of the arena.
type received struct {
	warnings []string // lines for the log
	welcomed bool
	redirect string
	refused  string // why the bot cannot play at this arena
}

func newSession(hello *v1.Hello, askForced bool, deals *deals) *session {
	return &session{
		hello: hello, askForced: askForced, deals: deals, limits: &v1.Limits{},
		seats: map[uint32]*seat{}, open: map[uint64]*seat{}, ended: map[uint32]bool{},
		wake: make(chan struct{}, 1), asks: newAskCount(), now: time.Now,
	}
}

// The connection calls these.

// streamOpened starts a stream, whose first message is hello.
func (s *session) streamOpened(out *outbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.welcomed, s.out = false, out
	out.asks = s.asks
	if s.deals != nil {
		s.deals.onStream()
	}
	out.put(&v1.BotMessage{Body: &v1.BotMessage_Hello{Hello: s.hello}})
}

// streamLost ends the stream, and returns whether the arena was draining. Open asks stay open until
// the next welcome.
func (s *session) streamLost() (draining bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.welcomed, s.out = false, nil
	return s.draining
}

// finish ends play: no stream follows. The error is nil if play ended in order.
func (s *session) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range s.seats {
		s.forget(seat)
	}
	s.over, s.playErr = true, err
	s.signal()
}

// receive processes a message of the arena.
func (s *session) receive(message *v1.ArenaMessage, now time.Time) received {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r received
	switch body := message.GetBody().(type) {
	case *v1.ArenaMessage_Asks:
		s.onAsks(&r, body.Asks.GetAsks(), now)
	case *v1.ArenaMessage_AskClosed:
		s.onAskClosed(&r, body.AskClosed)
	case *v1.ArenaMessage_MatchStart:
		s.onMatchStart(&r, body.MatchStart)
	case *v1.ArenaMessage_MatchEnd:
		s.onMatchEnd(&r, body.MatchEnd)
	case *v1.ArenaMessage_Welcome:
		s.onWelcome(&r, body.Welcome, now)
	case *v1.ArenaMessage_Refusal:
		reason := lowerName(body.Refusal.GetReason().String(), "REFUSAL_REASON_")
		deal := ""
		if context := body.Refusal.GetDealContext(); len(context) > 0 {
			deal = "deal-set " + dealName(context) + ": "
		}
		r.warn("%srefused (%s): %s", deal, reason, body.Refusal.GetText())
	case *v1.ArenaMessage_Drain:
		s.draining = true
		left := time.Duration(body.Drain.GetDeadlineMs()) * time.Millisecond
		r.warn("the arena shuts down in %v; running matches continue", left)
	case *v1.ArenaMessage_Redirect:
		r.redirect = body.Redirect.GetEndpoint()
	case *v1.ArenaMessage_DealOpen:
		if s.deals != nil {
			s.react(&r, s.deals.onOpen(body.DealOpen, now))
		}
	case *v1.ArenaMessage_DealTranscript:
		if s.deals != nil {
			s.react(&r, s.deals.onTranscript(body.DealTranscript, now))
		}
	case *v1.ArenaMessage_DealClose:
		if s.deals != nil {
			s.react(&r, s.deals.onClose(body.DealClose))
		}
	default: // a message of a newer arena, unknown to this SDK
	}
	if len(s.tasks) > 0 {
		s.signal()
	}
	return r
}

func (r *received) warn(format string, arguments ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, arguments...))
}

func (s *session) react(r *received, reaction reaction) {
	r.warnings = append(r.warnings, reaction.warnings...)
	s.send(reaction.send...)
}

func (s *session) send(messages ...*v1.BotMessage) {
	if s.out != nil {
		s.out.put(messages...)
	}
}

// The bot runner calls these.

// take waits for the calls of the bot that are due, oldest first. It returns false when play is
// over.
func (s *session) take(ctx context.Context) ([]botTask, bool) {
	for {
		s.mu.Lock()
		tasks, over := s.tasks, s.over
		s.tasks = nil
		s.mu.Unlock()
		if len(tasks) > 0 || over {
			return tasks, len(tasks) > 0
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// deliver marks a queued ask as delivered, right before the call of the bot. It returns false if
// the ask is settled or was delivered before: the bot must not be called then.
func (s *session) deliver(ctx context.Context, ask *Ask) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks.addQueued(-1)
	if !ask.open || ask.delivered {
		return nil, false
	}
	ask.delivered = true
	s.open[ask.ID()].times.deliveredAt = s.now()
	s.asks.addTaken(1)
	ask.ctx, ask.cancel = context.WithDeadline(ctx, ask.due)
	return ask.ctx, true
}

// abandon marks a delivered ask as undelivered, because the bot stopped when the ask was no longer
// open. If the arena repeats the ask, the bot is called again.
func (s *session) abandon(ask *Ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ask.cancel()
	s.asks.addTaken(-1)
	if ask.delivered = false; ask.open {
		s.enqueue(ask)
		s.signal()
	}
}

// answer keeps answers and sends them. A second answer to an ask is dropped. Without a stream
// nothing is sent: the next welcome repeats the open asks.
func (s *session) answer(answers ...*v1.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(answers)
	s.asks.addTaken(-int32(len(answers)))
}

// enqueue queues an ask for the bot runner, which calls deliver for each.
func (s *session) enqueue(ask *Ask) {
	s.asks.addQueued(1)
	s.tasks = append(s.tasks, botTask{ask: ask})
}

func (s *session) keep(answers []*v1.Answer) {
	var toSend []*v1.Answer
	for _, answer := range answers {
		seat := s.seatOf(answer.GetAskId())
		if seat == nil || seat.answer != nil {
			continue
		}
		if seat.times.due && answer.GetNote() == "" {
			answer.Note = seat.times.note()
		}
		answer.Note = truncate(answer.GetNote(), s.maxNoteChars())
		seat.answer = answer
		seat.times.answeredAt = s.now()
		if seat.ask.cancel != nil {
			seat.ask.cancel()
		}
		if seat.ask.open {
			toSend = append(toSend, answer)
			if s.lastAnswered = nil; s.welcomed {
				s.lastAnswered = seat
			}
		}
	}
	if s.welcomed {
		s.out.putAnswers(toSend)
	}
}

// seatOf is the seat whose last ask has an id. The ask may be settled: the arena can repeat it.
func (s *session) seatOf(askID uint64) *seat {
	if seat := s.open[askID]; seat != nil {
		return seat
	}
	for _, seat := range s.seats {
		if seat.ask != nil && seat.ask.ID() == askID {
			return seat
		}
	}
	return nil
}

func (s *session) maxNoteChars() int {
	if limit := s.limits.GetMaxNoteChars(); limit > 0 {
		return int(limit)
	}
	return defaultNoteChars
}

func (s *session) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Messages of the arena.

func (s *session) onWelcome(r *received, welcome *v1.Welcome, now time.Time) {
	r.welcomed = true
	if welcome.GetContract() > contract {
		r.refused = fmt.Sprintf("the arena uses contract version %d, this SDK supports version %d: upgrade the SDK", welcome.GetContract(), contract)
		return
	}
	if welcome.GetEpoch() <= s.epoch {
		// The arena counts streams up. A lower number is of an arena that lost its state.
		for _, seat := range s.inOrder() {
			s.endSeat(r, seat, &v1.MatchEnd{Match: seat.match.Number()})
		}
		clear(s.ended)
		s.endedOldestFirst = nil
	}
	s.epoch, s.welcomed, s.draining = welcome.GetEpoch(), true, false
	if s.limits = welcome.GetLimits(); s.limits == nil {
		s.limits = &v1.Limits{}
	}
	s.out.setLimits(s.limits)

	listed := map[uint32]bool{}
	for _, start := range welcome.GetMatches() {
		listed[start.GetMatch()] = true
	}
	for _, seat := range s.inOrder() {
		if !listed[seat.match.Number()] {
			s.endSeat(r, seat, &v1.MatchEnd{Match: seat.match.Number()})
		}
	}
	for _, start := range welcome.GetMatches() {
		if !s.ended[start.GetMatch()] {
			s.onMatchStart(r, start)
		}
	}
	stillOpen := map[uint64]bool{}
	for _, ask := range welcome.GetOpenAsks() {
		stillOpen[ask.GetAskId()] = true
	}
	for _, askID := range welcome.GetLaterAsks() {
		stillOpen[askID] = true
	}
	for askID := range s.open {
		if !stillOpen[askID] {
			s.settle(askID)
		}
	}
	s.onAsks(r, welcome.GetOpenAsks(), now)
	var refused []string
	for _, game := range welcome.GetGames() {
		if game.GetRefusal() != v1.GameRefusal_GAME_REFUSAL_UNSPECIFIED {
			r.warn("game refused: %s", game.GetText())
			refused = append(refused, game.GetText())
		}
	}
	if len(refused) > 0 && len(refused) == len(welcome.GetGames()) && len(welcome.GetMatches()) == 0 {
		r.refused = "the arena refused all games of this bot: " + strings.Join(refused, "; ")
	}
}

func (s *session) onMatchStart(r *received, start *v1.MatchStart) {
	known := s.seats[start.GetMatch()]
	if known != nil && !proto.Equal(known.match.Start, start) {
		s.endSeat(r, known, &v1.MatchEnd{Match: start.GetMatch()})
		known = nil
	}
	if known == nil {
		match := &Match{Start: start}
		s.seats[start.GetMatch()] = &seat{match: match}
		s.tasks = append(s.tasks, botTask{started: match})
	}
	if s.deals != nil {
		s.react(r, s.deals.onMatchStart(start))
	}
}

func (s *session) onAsks(r *received, asks []*v1.Ask, now time.Time) {
	var repeated, automatic []*v1.Answer
	for _, message := range asks {
		if s.deals != nil {
			s.react(r, s.deals.onAsk(message))
		}
		seat := s.seats[message.GetMatch()]
		if seat == nil {
			r.warn("ignored an ask of match %d, which did not start", message.GetMatch())
			continue
		}
		if seat.ask != nil && seat.ask.ID() == message.GetAskId() {
			s.reopen(seat)
			if seat.answer != nil {
				repeated = append(repeated, seat.answer)
			}
			continue
		}
		ask := newAsk(message, seat.match, seat.undelivered(), now)
		if ask == nil {
			note := "error: this version of the SDK does not support " + seat.match.Game()
			repeated = append(repeated, &v1.Answer{AskId: message.GetAskId(), Choice: &v1.Answer_Failed{Failed: true}, Note: truncate(note, s.maxNoteChars())})
			continue
		}
		if seat.ask != nil && seat.ask.open {
			s.settle(seat.ask.ID())
		}
		var roundTrip time.Duration
		if s.lastAnswered == seat {
			roundTrip = time.Duration(message.GetClock().GetLastRoundTripMs()) * time.Millisecond
		}
		seat.times.arrived(now, roundTrip)
		seat.ask, seat.answer = ask, nil
		s.open[ask.ID()] = seat
		if !s.askForced && ask.forced() {
			automatic = append(automatic, &v1.Answer{AskId: ask.ID(), Choice: &v1.Answer_Index{}})
		} else {
			s.enqueue(ask)
		}
	}
	if s.welcomed {
		s.out.putAnswers(repeated)
	}
	if len(repeated) > 0 {
		s.lastAnswered = nil // its round trip has the time without a stream
	}
	s.keep(automatic)
}

// reopen opens the last ask of a match again, because the arena repeated it.
func (s *session) reopen(seat *seat) {
	if seat.ask.open {
		return
	}
	seat.ask.open = true
	s.open[seat.ask.ID()] = seat
	if seat.answer == nil && !seat.ask.delivered {
		s.enqueue(seat.ask)
	}
}

func (s *session) onAskClosed(r *received, closed *v1.AskClosed) {
	where := ""
	if seat := s.open[closed.GetAskId()]; seat != nil {
		s.settle(closed.GetAskId())
		where = fmt.Sprintf(" in match %d (%s)", seat.match.Number(), seat.match.Game())
	}
	if closed.GetFault() != v1.FaultKind_FAULT_KIND_UNSPECIFIED {
		r.warn("fault%s: %s: %s", where, lowerName(closed.GetFault().String(), "FAULT_KIND_"), closed.GetReason())
	}
}

func (s *session) onMatchEnd(r *received, end *v1.MatchEnd) {
	seat := s.seats[end.GetMatch()]
	if seat == nil {
		return
	}
	s.endSeat(r, seat, end)
	s.ended[end.GetMatch()] = true
	if s.endedOldestFirst = append(s.endedOldestFirst, end.GetMatch()); len(s.endedOldestFirst) > maxRememberedEnds {
		delete(s.ended, s.endedOldestFirst[0])
		s.endedOldestFirst = s.endedOldestFirst[1:]
	}
}

func (s *session) endSeat(r *received, seat *seat, end *v1.MatchEnd) {
	s.forget(seat)
	s.tasks = append(s.tasks, botTask{ended: &End{Message: end, Match: seat.match, undelivered: seat.undelivered()}})
	if s.deals != nil {
		s.react(r, s.deals.onMatchEnd(end))
	}
}

func (s *session) forget(seat *seat) {
	if seat.ask != nil && seat.ask.open {
		s.settle(seat.ask.ID())
	}
	delete(s.seats, seat.match.Number())
}

func (s *session) settle(askID uint64) {
	seat := s.open[askID]
	delete(s.open, askID)
	seat.ask.open = false
	if seat.ask.cancel != nil {
		seat.ask.cancel()
	}
}

// inOrder are the seats by match number.
func (s *session) inOrder() []*seat {
	var found []*seat
	for _, seat := range s.seats {
		found = append(found, seat)
	}
	slices.SortFunc(found, func(a, b *seat) int { return int(a.match.Number()) - int(b.match.Number()) })
	return found
}

// matches are the matches in play, oldest first.
func (s *session) matches() []*Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	var matches []*Match
	for _, seat := range s.inOrder() {
		matches = append(matches, seat.match)
	}
	return matches
}

// lowerName is the name of an enum's value in lower case, without the enum's prefix.
func lowerName(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }
