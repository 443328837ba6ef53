package cardarena

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

const (
	saltBytes      = 32
	signatureBytes = 64
	// deadlineTolerance is how long before the deadline an arena may continue without a commitment. The network
	// may have delayed a message, so that is not a lie.
	deadlineTolerance = time.Second
	// maxRememberedDeals limits the remembered deal-sets in play, and those that are over.
	maxRememberedDeals = 4096
)

var noCommitment = make([]byte, hashBytes)

// A reaction is what to do about a message of the arena.
type reaction struct {
	send     []*v1.BotMessage
	warnings []string // lines for the log
}

func (r *reaction) warn(format string, arguments ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, arguments...))
}

// deals are all fair deals of a bot, by protocol fd2 of docs/fair-deals.md: it commits, reveals and checks.
// The session calls it with its lock held.
type deals struct {
	lies        []string       // one sentence each
	receipts    *receiptFolder // nil if the bot stores none
	drawEntropy func() []byte
	// open are the deal-sets in play, by context.
	open            map[string]*dealSet
	openOldestFirst []string
	// closed are the contexts of deal-sets that are over.
	closed            map[string]bool
	closedOldestFirst []string
	// contexts has the context of each match in play.
	contexts map[uint32]string
	// announced are the matches that the arena announced on the current stream.
	announced map[uint32]bool
}

func newDeals(receipts *receiptFolder) *deals {
	drawEntropy := func() []byte {
		entropy := make([]byte, hashBytes)
		if _, err := rand.Read(entropy); err != nil {
			panic(err) // crypto/rand does not fail on the systems that Go supports
		}
		return entropy
	}
	return &deals{
		receipts: receipts, drawEntropy: drawEntropy, open: map[string]*dealSet{}, closed: map[string]bool{},
		contexts: map[uint32]string{}, announced: map[uint32]bool{},
	}
}

// onStream starts a new stream. The arena announces on it which matches are in play.
func (d *deals) onStream() { clear(d.announced) }

// onOpen commits to entropy for a deal-set.
func (d *deals) onOpen(message *v1.DealOpen, now time.Time) (r reaction) {
	context, commitment := message.GetContext(), message.GetServerCommitment()
	if len(context) != hashBytes || len(commitment) != hashBytes {
		r.warn("ignored a fair deal: its context or commitment does not have 32 bytes")
		return r
	}
	deal := d.find(context, message.GetParticipant())
	if d.closed[string(context)] {
		d.lie(&r, context, "it reopened a deal-set whose packs are public")
		return r
	}
	prior := message.GetCommitment()
	if deal == nil {
		deal = &dealSet{
			context: context, serverCommitment: commitment, participant: message.GetParticipant(),
			publicKey: message.GetPublicKey(), priorCommitment: prior, chains: map[uint32]*askChain{},
		}
		if len(prior) == 0 {
			deal.entropy = d.drawEntropy()
		}
		d.remember(deal)
		d.store(&r, deal)
	} else if !bytes.Equal(deal.serverCommitment, commitment) || deal.participant != message.GetParticipant() || !bytes.Equal(deal.publicKey, message.GetPublicKey()) {
		deal.refused = true
		d.lie(&r, context, "it sent two different commitments")
		return r
	}
	if len(prior) > 0 && !bytes.Equal(prior, noCommitment) && !bytes.Equal(prior, deal.commitment()) {
		deal.refused = true
		d.lie(&r, context, "it replaced this bot's commitment")
		return r
	}
	if len(prior) > 0 {
		return r // the arena has the commitment, or the deadline is over
	}
	deal.due = now.Add(time.Duration(message.GetDeadlineMs()) * time.Millisecond)
	commit := &v1.DealCommit{Context: context, Commitment: deal.commitment()}
	r.send = append(r.send, &v1.BotMessage{Body: &v1.BotMessage_DealCommit{DealCommit: commit}})
	return r
}

// onTranscript checks the transcript, and reveals the bot's entropy if it is right.
func (d *deals) onTranscript(message *v1.DealTranscript, now time.Time) (r reaction) {
	context := message.GetContext()
	deal := d.find(context, "")
	if deal == nil {
		if !d.closed[string(context)] {
			r.warnNotRevealed(context)
		}
		return r
	}
	lie := ""
	if len(deal.shownCommitment) == 0 {
		early := now.Before(deal.due.Add(-deadlineTolerance))
		if lie = lieInTranscript(deal, message.GetCommitment(), message.GetSeal(), early); lie == "" {
			deal.shownCommitment, deal.seal, deal.signature = message.GetCommitment(), message.GetSeal(), message.GetSignature()
		}
	} else if !bytes.Equal(message.GetCommitment(), deal.shownCommitment) || !bytes.Equal(message.GetSeal(), deal.seal) {
		lie = "it sent a second transcript that differs from the first"
	}
	if lie != "" {
		deal.refused = true
		d.lie(&r, context, lie+"; this bot does not reveal its entropy")
	} else if len(deal.publicKey) > 0 && len(deal.signature) != signatureBytes {
		// The bot reveals all the same: not to reveal would lose it the deal-set.
		d.lie(&r, context, "it has a key, but did not sign the transcript")
	}
	d.store(&r, deal)
	if len(deal.entropy) == 0 && !bytes.Equal(deal.commitment(), noCommitment) {
		r.warnNotRevealed(context)
	}
	if deal.takesPart() && !deal.refused {
		reveal := &v1.DealReveal{Context: context, Entropy: deal.entropy}
		r.send = append(r.send, &v1.BotMessage{Body: &v1.BotMessage_DealReveal{DealReveal: reveal}})
	}
	return r
}

func (r *reaction) warnNotRevealed(context []byte) {
	r.warn("deal-set %s: not revealed, because this process did not commit to it", dealName(context))
}

// onClose checks the opening of a deal-set that is over.
func (d *deals) onClose(message *v1.DealClose) (r reaction) {
	context := message.GetContext()
	deal := d.find(context, "")
	if deal == nil {
		return r
	}
	opened := &opening{
		deal: message.GetDeal(), secret: message.GetSecret(),
		commitments: map[string][]byte{}, entropies: map[string][]byte{}, salts: map[string][]byte{},
	}
	var names []string
	for _, each := range message.GetEntropies() {
		name := each.GetParticipant()
		names = append(names, name)
		opened.commitments[name], opened.entropies[name], opened.salts[name] = each.GetCommitment(), each.GetEntropy(), each.GetSalt()
	}
	deal.opening, deal.voidReason = opened, message.GetVoidReason()
	if !slices.Equal(names, slices.Sorted(maps.Keys(opened.entropies))) {
		d.lie(&r, context, "it opened participants out of order, or one of them twice")
	} else if lie := lieInOpening(deal, opened); lie != "" {
		d.lie(&r, context, lie)
	}
	if deal.voidReason != "" {
		r.warn("deal-set %s is void: %s", dealName(context), deal.voidReason)
	} else if !deal.takesPart() {
		r.warn("deal-set %s was dealt without this bot's entropy", dealName(context))
	}
	if deal.voidReason == "" {
		for _, match := range slices.Sorted(maps.Keys(d.announced)) {
			if d.contexts[match] == string(context) {
				d.lie(&r, context, fmt.Sprintf("it published the packs while match %d was played with them", match))
				break
			}
		}
	}
	d.store(&r, deal)
	delete(d.open, string(context))
	d.close(context)
	return r
}

// The bot's matches.

func (d *deals) onMatchStart(start *v1.MatchStart) (r reaction) {
	context := start.GetDealContext()
	if len(context) == 0 {
		return r
	}
	d.contexts[start.GetMatch()] = string(context)
	d.announced[start.GetMatch()] = true
	if d.closed[string(context)] {
		d.lie(&r, context, fmt.Sprintf("it started match %d with packs that are public", start.GetMatch()))
	}
	if deal := d.find(context, ""); deal != nil && deal.chains[start.GetMatch()] == nil {
		deal.chains[start.GetMatch()] = &askChain{
			matchNumber: start.GetMatch(), game: start.GetTerms().GetGame(), seat: start.GetSeat(),
			matchID: start.GetMatchId(), hash: make([]byte, hashBytes),
		}
		deal.chainOrder = append(deal.chainOrder, start.GetMatch())
	}
	return r
}

// onAsk adds an ask to the chain of its match.
func (d *deals) onAsk(ask *v1.Ask) (r reaction) {
	chain := d.chainOf(ask.GetMatch())
	body := gameMessage(ask)
	if chain == nil || body == nil || ask.GetDecision() == 0 {
		return r
	}
	payload := encoded(body)
	sum := sha256.Sum256(payload)
	last := uint32(0)
	if len(chain.links) > 0 {
		last = chain.links[len(chain.links)-1].decision
	}
	switch {
	case ask.GetDecision() > last:
		prefix := binary.BigEndian.AppendUint32(slices.Clone(chain.hash), ask.GetDecision())
		hash := sha256.Sum256(append(prefix, payload...))
		chain.hash, chain.lastSHA256 = hash[:], sum[:]
		chain.links = append(chain.links, chainLink{ask.GetDecision(), hex.EncodeToString(hash[:4])})
	case ask.GetDecision() == last && !bytes.Equal(sum[:], chain.lastSHA256):
		lie := fmt.Sprintf("it sent decision %d of match %d twice and differently", last, ask.GetMatch())
		d.lie(&r, []byte(d.contexts[ask.GetMatch()]), lie)
	}
	return r
}

// onMatchEnd completes the chain of a match with the events that came with its end.
func (d *deals) onMatchEnd(end *v1.MatchEnd) (r reaction) {
	chain := d.chainOf(end.GetMatch())
	context := d.contexts[end.GetMatch()]
	delete(d.contexts, end.GetMatch())
	delete(d.announced, end.GetMatch())
	if chain != nil {
		if end.GetEnding() != v1.Ending_ENDING_UNSPECIFIED {
			if end.GetReplayId() != "" {
				chain.matchID = end.GetReplayId()
			}
			chain.endSHA256 = trailingEventsSHA256(end)
		}
		d.store(&r, d.open[context])
	}
	return r
}

func trailingEventsSHA256(end *v1.MatchEnd) []byte {
	var events [][]byte
	for _, event := range end.GetTrailingEvents() {
		if body := gameMessage(event); body != nil {
			events = append(events, encoded(body))
		}
	}
	sum := sha256.Sum256(joined(events...))
	return sum[:]
}

// encoded is a message as the arena sent it, with its fields in the order of their numbers.
func encoded(message proto.Message) []byte {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		panic(err) // the message was decoded from bytes
	}
	return data
}

// chainOf is the chain of a match. It is nil if the bot stores no receipts.
func (d *deals) chainOf(match uint32) *askChain {
	if deal := d.open[d.contexts[match]]; deal != nil && d.receipts != nil {
		return deal.chains[match]
	}
	return nil
}

// find is a deal-set in play, or nil. A receipt of an earlier process is loaded first.
func (d *deals) find(context []byte, participant string) *dealSet {
	deal := d.open[string(context)]
	if deal != nil || d.receipts == nil || d.closed[string(context)] {
		return deal
	}
	deal = d.receipts.read(context, participant)
	if deal == nil {
		return nil
	}
	if deal.opening != nil {
		d.close(context)
		return nil
	}
	d.remember(deal)
	return deal
}

func (d *deals) remember(deal *dealSet) {
	d.open[string(deal.context)] = deal
	if d.openOldestFirst = append(d.openOldestFirst, string(deal.context)); len(d.openOldestFirst) > maxRememberedDeals {
		delete(d.open, d.openOldestFirst[0])
		d.openOldestFirst = d.openOldestFirst[1:]
	}
}

func (d *deals) close(context []byte) {
	d.closed[string(context)] = true
	if d.closedOldestFirst = append(d.closedOldestFirst, string(context)); len(d.closedOldestFirst) > maxRememberedDeals {
		delete(d.closed, d.closedOldestFirst[0])
		d.closedOldestFirst = d.closedOldestFirst[1:]
	}
}

func (d *deals) store(r *reaction, deal *dealSet) {
	if d.receipts != nil {
		if err := d.receipts.write(deal); err != nil {
			r.warn("cannot store the receipt of deal-set %s: %v", dealName(deal.context), err)
		}
	}
}

// lie records a lie of the arena, and warns the author if it is new.
func (d *deals) lie(r *reaction, context []byte, what string) {
	line := fmt.Sprintf("the arena LIED about deal-set %s: %s", dealName(context), what)
	if deal := d.open[string(context)]; deal != nil && !slices.Contains(deal.lies, what) {
		deal.lies = append(deal.lies, what)
	}
	if !slices.Contains(d.lies, line) {
		d.lies = append(d.lies, line)
		r.warnings = append(r.warnings, line)
	}
}

// lieInTranscript is the lie in the first transcript of a deal-set, or empty. It is early if it came before the
// deadline.
func lieInTranscript(deal *dealSet, commitment, seal []byte, early bool) string {
	switch {
	case len(commitment) != hashBytes:
		return "it left out this bot's commitment"
	case len(seal) != hashBytes:
		return "it sent no seal over the commitments"
	case bytes.Equal(commitment, deal.commitment()):
		return ""
	case !bytes.Equal(commitment, noCommitment):
		return "it replaced this bot's commitment"
	case early:
		return "it did not wait for this bot's commitment, or dropped it"
	}
	return ""
}

// lieInOpening is the lie in the opening of a deal-set, or empty.
func lieInOpening(deal *dealSet, opened *opening) string {
	name := deal.participant
	if len(opened.secret) != hashBytes || !bytes.Equal(digest("server-commit", deal.context, opened.secret), deal.serverCommitment) {
		return "its secret does not match its commitment"
	}
	salt := opened.salts[name]
	if len(salt) != saltBytes || !bytes.Equal(viewOf(opened.deal, name, salt), deal.context) {
		return "it opened another deal-set than the one it named to this bot"
	}
	entropy := opened.entropies[name]
	if len(deal.shownCommitment) == 0 {
		if len(entropy) > 0 {
			return "it published entropy that this bot never revealed"
		}
		return ""
	}
	if deal.takesPart() && !bytes.Equal(entropy, deal.entropy) && (len(entropy) > 0 || deal.voidReason == "") {
		return "it replaced this bot's entropy"
	}
	if deal.voidReason != "" {
		return "" // a participant's entropy is missing or wrong, which made the deal-set void
	}
	if !bytes.Equal(opened.commitments[name], deal.shownCommitment) {
		return "it opened another commitment of this bot than the one in its transcript"
	}
	if !bytes.Equal(sealOf(deal.context, opened.transcript(), salt), deal.seal) {
		return "it opened commitments that do not match its seal"
	}
	for _, each := range slices.Sorted(maps.Keys(opened.commitments)) {
		commitment, entropy := opened.commitments[each], opened.entropies[each]
		context := viewOf(opened.deal, each, opened.salts[each])
		if bytes.Equal(commitment, noCommitment) {
			if len(entropy) > 0 {
				return "participant " + each + " added entropy without a commitment"
			}
		} else if len(entropy) != hashBytes || !bytes.Equal(commitmentOf(context, each, entropy), commitment) {
			return "the entropy of participant " + each + " does not match its commitment"
		}
	}
	return ""
}
