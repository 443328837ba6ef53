package cardarena

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena/v1"
)

const (
	defaultNoteChars = 200
	// gatherMost is how long answers wait at most for goroutines that were handed an ask, and have not run yet.
	gatherMost = time.Millisecond
	// rememberedEnds are ended matches that are remembered: an arena repeats the last 64 at most.
	rememberedEnds = 1024
	contract       = 1
)

// A session is a bot at the arena, over all its streams. It reads no socket and never calls the
// author's code.
//
// An ask is queued, then shown to the author, then answered, or settled at any time. The arena does
// not acknowledge answers, so an answer is kept until the match's next ask: whenever the ask
// comes again, the same answer is said again and the author is not asked anew.
type session struct {
	mu        sync.Mutex
	hello     *v1.Hello
	askForced bool
	deals     *deals // nil of a bot that takes no part in them

	out      *outbox // of the stream there is; nil without one
	live     bool    // whether it was welcomed
	draining bool
	epoch    uint32
	limits   *v1.Limits
	seats    map[uint32]*seat
	open     map[uint64]*seat
	over     map[uint32]bool // matches whose end was told
	overList []uint32

	work   []item
	wake   chan struct{}
	handed *handed
	ended  bool
	failed error
}

// A seat is the bot's own at a match.
type seat struct {
	match  *Match
	ask    *Ask       // the last one, open or not
	answer *v1.Answer // to it
}

// untold is what the author has not been told, as the last ask was not given to it.
func (s *seat) untold() *told {
	if s.ask == nil || s.ask.shown {
		return nil
	}
	return s.ask.told()
}

// An item waits for the author's code: one of the three is set.
type item struct {
	started *Match
	ask     *Ask
	ended   *End
}

// received is what is to be done about a message of the arena.
type received struct {
	say      []string
	welcomed bool
	redirect string
	refused  string // why the bot would wait in vain
}

func newSession(hello *v1.Hello, askForced bool, deals *deals) *session {
	return &session{
		hello: hello, askForced: askForced, deals: deals, limits: &v1.Limits{},
		seats: map[uint32]*seat{}, open: map[uint64]*seat{}, over: map[uint32]bool{},
		wake: make(chan struct{}, 1), handed: newHanded(),
	}
}

// The stream.

// opened begins a stream; its first message is hello.
func (s *session) opened(out *outbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live, s.out = false, out
	out.handed = s.handed
	if s.deals != nil {
		s.deals.onStream()
	}
	out.put(&v1.BotMessage{Body: &v1.BotMessage_Hello{Hello: s.hello}})
}

// lost says that the stream is gone. What is open stays so until the next welcome.
func (s *session) lost() (draining bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live, s.out = false, nil
	return s.draining
}

// finish says that there will be no other stream, and why if it is for an error.
func (s *session) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range s.seats {
		s.forget(seat)
	}
	s.ended, s.failed = true, err
	s.signal()
}

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
		reason := word(body.Refusal.GetReason().String(), "REFUSAL_REASON_")
		deal := ""
		if context := body.Refusal.GetDealContext(); len(context) > 0 {
			deal = "deal-set " + dealName(context) + ": "
		}
		r.tell("%srefused (%s): %s", deal, reason, body.Refusal.GetText())
	case *v1.ArenaMessage_Drain:
		s.draining = true
		left := time.Duration(body.Drain.GetDeadlineMs()) * time.Millisecond
		r.tell("the arena closes in %v; running matches go on", left)
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
	default: // a newer arena says more than this SDK knows
	}
	if len(s.work) > 0 {
		s.signal()
	}
	return r
}

func (r *received) tell(format string, arguments ...any) {
	r.say = append(r.say, fmt.Sprintf(format, arguments...))
}

func (s *session) react(r *received, reaction reaction) {
	r.say = append(r.say, reaction.say...)
	s.send(reaction.send...)
}

func (s *session) send(messages ...*v1.BotMessage) {
	if s.out != nil {
		s.out.put(messages...)
	}
}

// The author's side.

// take waits for what there is for the author's code, oldest first; false when play is over.
func (s *session) take(ctx context.Context) ([]item, bool) {
	for {
		s.mu.Lock()
		work, ended := s.work, s.ended
		s.work = nil
		s.mu.Unlock()
		if len(work) > 0 || ended {
			return work, len(work) > 0
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// show says that the author is about to be given an ask; false if it is settled, or was given it.
func (s *session) show(ctx context.Context, ask *Ask) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handed.add(-1)
	if !ask.open || ask.shown {
		return nil, false
	}
	ask.shown = true
	ask.ctx, ask.cancel = context.WithDeadline(ctx, ask.due)
	return ask.ctx, true
}

// giveUp says that the author stopped as its answer was not wanted any more; if it is wanted
// again meanwhile, the author is asked anew.
func (s *session) giveUp(ask *Ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ask.cancel()
	if ask.shown = false; ask.open {
		s.hand(ask)
		s.signal()
	}
}

// answer keeps answers and sends them. One to an ask that has an answer is dropped; without a
// stream nothing is sent, as welcome will ask again.
func (s *session) answer(answers ...*v1.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(answers)
}

// hand hands an ask on to the author's code, which calls show for each.
func (s *session) hand(ask *Ask) {
	s.handed.add(1)
	s.work = append(s.work, item{ask: ask})
}

func (s *session) keep(answers []*v1.Answer) {
	var taken []*v1.Answer
	for _, answer := range answers {
		seat := s.seatAsked(answer.GetAskId())
		if seat == nil || seat.answer != nil {
			continue
		}
		answer.Note = cut(answer.GetNote(), s.noteChars())
		seat.answer = answer
		if seat.ask.cancel != nil {
			seat.ask.cancel()
		}
		if seat.ask.open {
			taken = append(taken, answer)
		}
	}
	if s.live {
		s.out.putAnswers(taken)
	}
}

// seatAsked is the seat whose last ask this is, also if it counts as settled: it may come again.
func (s *session) seatAsked(number uint64) *seat {
	if seat := s.open[number]; seat != nil {
		return seat
	}
	for _, seat := range s.seats {
		if seat.ask != nil && seat.ask.ID() == number {
			return seat
		}
	}
	return nil
}

func (s *session) noteChars() int {
	if most := s.limits.GetMaxNoteChars(); most > 0 {
		return int(most)
	}
	return defaultNoteChars
}

func (s *session) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// What the arena says.

func (s *session) onWelcome(r *received, welcome *v1.Welcome, now time.Time) {
	r.welcomed = true
	if welcome.GetContract() > contract {
		r.refused = fmt.Sprintf("the arena speaks version %d of the contract, and this SDK does not: a newer one is needed", welcome.GetContract())
		return
	}
	if welcome.GetEpoch() <= s.epoch {
		// Streams are counted up: this arena has started anew, with the same small numbers.
		for _, seat := range s.inOrder() {
			s.endSeat(r, seat, &v1.MatchEnd{Match: seat.match.Number()})
		}
		clear(s.over)
		s.overList = nil
	}
	s.epoch, s.live, s.draining = welcome.GetEpoch(), true, false
	if s.limits = welcome.GetLimits(); s.limits == nil {
		s.limits = &v1.Limits{}
	}
	s.out.limit(s.limits)

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
		if !s.over[start.GetMatch()] {
			s.onMatchStart(r, start)
		}
	}
	wanted := map[uint64]bool{}
	for _, ask := range welcome.GetOpenAsks() {
		wanted[ask.GetAskId()] = true
	}
	for _, number := range welcome.GetLaterAsks() {
		wanted[number] = true
	}
	for number := range s.open {
		if !wanted[number] {
			s.settle(number)
		}
	}
	s.onAsks(r, welcome.GetOpenAsks(), now)
	var none []string
	for _, game := range welcome.GetGames() {
		if game.GetRefusal() != v1.GameRefusal_GAME_REFUSAL_UNSPECIFIED {
			r.tell("not seated: %s", game.GetText())
			none = append(none, game.GetText())
		}
	}
	if len(none) > 0 && len(none) == len(welcome.GetGames()) && len(welcome.GetMatches()) == 0 {
		r.refused = "the arena seats this bot at none of its games: " + strings.Join(none, "; ")
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
		s.work = append(s.work, item{started: match})
	}
	if s.deals != nil {
		s.react(r, s.deals.onMatchStart(start))
	}
}

func (s *session) onAsks(r *received, asks []*v1.Ask, now time.Time) {
	var again, automatic []*v1.Answer
	for _, message := range asks {
		if s.deals != nil {
			s.react(r, s.deals.onAsk(message))
		}
		seat := s.seats[message.GetMatch()]
		if seat == nil {
			r.tell("asked at match %d, which never started", message.GetMatch())
			continue
		}
		if seat.ask != nil && seat.ask.ID() == message.GetAskId() {
			s.reopen(seat)
			if seat.answer != nil {
				again = append(again, seat.answer)
			}
			continue
		}
		ask := newAsk(message, seat.match, seat.untold(), now)
		if ask == nil {
			note := "error: this version of the SDK has no messages of " + seat.match.Game()
			again = append(again, &v1.Answer{AskId: message.GetAskId(), Choice: &v1.Answer_Index{}, Note: cut(note, s.noteChars())})
			continue
		}
		if seat.ask != nil && seat.ask.open {
			s.settle(seat.ask.ID())
		}
		seat.ask, seat.answer = ask, nil
		s.open[ask.ID()] = seat
		if !s.askForced && ask.forced() {
			automatic = append(automatic, &v1.Answer{AskId: ask.ID(), Choice: &v1.Answer_Index{}})
		} else {
			s.hand(ask)
		}
	}
	if s.live {
		s.out.putAnswers(again)
	}
	s.keep(automatic)
}

// reopen: the last ask of a match is asked again, though it may have counted as settled.
func (s *session) reopen(seat *seat) {
	if seat.ask.open {
		return
	}
	seat.ask.open = true
	s.open[seat.ask.ID()] = seat
	if seat.answer == nil && !seat.ask.shown {
		s.hand(seat.ask)
	}
}

func (s *session) onAskClosed(r *received, closed *v1.AskClosed) {
	where := ""
	if seat := s.open[closed.GetAskId()]; seat != nil {
		s.settle(closed.GetAskId())
		where = fmt.Sprintf(" in match %d (%s)", seat.match.Number(), seat.match.Game())
	}
	if closed.GetFault() != v1.FaultKind_FAULT_KIND_UNSPECIFIED {
		r.tell("fault%s: %s: %s", where, word(closed.GetFault().String(), "FAULT_KIND_"), closed.GetReason())
	}
}

func (s *session) onMatchEnd(r *received, end *v1.MatchEnd) {
	seat := s.seats[end.GetMatch()]
	if seat == nil {
		return
	}
	s.endSeat(r, seat, end)
	s.over[end.GetMatch()] = true
	if s.overList = append(s.overList, end.GetMatch()); len(s.overList) > rememberedEnds {
		delete(s.over, s.overList[0])
		s.overList = s.overList[1:]
	}
}

// Settling.

func (s *session) endSeat(r *received, seat *seat, end *v1.MatchEnd) {
	s.forget(seat)
	s.work = append(s.work, item{ended: &End{Message: end, Match: seat.match, before: seat.untold()}})
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

func (s *session) settle(number uint64) {
	seat := s.open[number]
	delete(s.open, number)
	seat.ask.open = false
	if seat.ask.cancel != nil {
		seat.ask.cancel()
	}
}

func (s *session) inOrder() []*seat {
	var found []*seat
	for _, seat := range s.seats {
		found = append(found, seat)
	}
	slices.SortFunc(found, func(a, b *seat) int { return int(a.match.Number()) - int(b.match.Number()) })
	return found
}

// seated are the matches that go on, oldest first.
func (s *session) seated() []*Match {
	s.mu.Lock()
	defer s.mu.Unlock()
	var matches []*Match
	for _, seat := range s.inOrder() {
		matches = append(matches, seat.match)
	}
	return matches
}

// word is the value of an enum as a word; a newer arena may have values that this SDK does not know.
func word(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

// A handed counts the asks that were handed on, and that no goroutine has taken up yet.
type handed struct {
	count atomic.Int32
	none  chan struct{}
}

func newHanded() *handed { return &handed{none: make(chan struct{}, 1)} }

func (h *handed) add(more int32) {
	if h.count.Add(more) == 0 {
		select {
		case h.none <- struct{}{}:
		default:
		}
	}
}

// An outbox has what is to be sent on one stream. Answers gather until the writer is free.
type outbox struct {
	mu       sync.Mutex
	messages []*v1.BotMessage
	answers  []*v1.Answer
	limits   *v1.Limits
	ready    chan struct{}
	handed   *handed       // the session's
	most     time.Duration // gatherMost
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), limits: &v1.Limits{}, handed: newHanded(), most: gatherMost}
}

func (o *outbox) limit(limits *v1.Limits) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limits = limits
}

func (o *outbox) put(messages ...*v1.BotMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, messages...)
	o.signal()
}

func (o *outbox) putAnswers(answers []*v1.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = append(o.answers, answers...)
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// next waits for messages; nil when the context ends.
func (o *outbox) next(ctx context.Context) []*v1.BotMessage {
	for {
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil
		}
		o.gather()
		o.mu.Lock()
		messages := o.messages
		if len(o.answers) > 0 {
			messages = append(messages, o.frames(o.answers)...)
		}
		o.messages, o.answers = nil, nil
		o.mu.Unlock()
		if len(messages) > 0 {
			return messages
		}
	}
}

// gather makes way for goroutines that were handed an ask, so that what they answer at once goes
// together. It waits for no bot that thinks, but for those only that the processor has not got to.
func (o *outbox) gather() {
	if o.handed.count.Load() > 0 {
		late := time.NewTimer(o.most)
		defer late.Stop()
		for o.handed.count.Load() > 0 {
			select {
			case <-o.handed.none:
			case <-late.C:
				return
			}
		}
	}
	runtime.Gosched() // the last of them is about to answer
}

// frames are answers in as few messages as the arena's limits allow.
func (o *outbox) frames(answers []*v1.Answer) []*v1.BotMessage {
	if most := int(o.limits.GetMaxAnswers()); most > 0 && len(answers) > most {
		return append(o.frames(answers[:most]), o.frames(answers[most:])...)
	}
	message := &v1.BotMessage{Body: &v1.BotMessage_Answers{Answers: &v1.Answers{Answers: answers}}}
	size, most := proto.Size(message), int(o.limits.GetMaxMessageBytes())
	if most == 0 || size <= most {
		return []*v1.BotMessage{message}
	}
	if half := len(answers) / 2; half > 0 {
		return append(o.frames(answers[:half]), o.frames(answers[half:])...)
	}
	note := fmt.Sprintf("error: the answer has %d bytes, the arena takes %d", size, most)
	short := &v1.Answer{AskId: answers[0].GetAskId(), Note: note}
	return []*v1.BotMessage{{Body: &v1.BotMessage_Answers{Answers: &v1.Answers{Answers: []*v1.Answer{short}}}}}
}
