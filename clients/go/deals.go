package cardarena

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena/v1"
)

// Fair deals, protocol fd2 of docs/fair-deals.md, as a bot takes part in them and checks them. The
// session calls this under its lock.

const (
	hashBytes      = 32
	saltBytes      = 32
	signatureBytes = 64
	// jitter is how much sooner than the deadline an arena may go on without a commitment.
	jitterOfDeadline = time.Second
	// rememberedDeals: so many in play, and so many that are over.
	rememberedDeals = 4096
)

var noCommitment = make([]byte, hashBytes)

// joined are byte strings with their lengths, so that no two lists of them look alike.
func joined(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = binary.BigEndian.AppendUint32(all, uint32(len(part)))
		all = append(all, part...)
	}
	return all
}

// digest is the protocol's hash for one purpose.
func digest(label string, parts ...[]byte) []byte {
	sum := sha256.Sum256(joined(append([][]byte{[]byte("fd1"), []byte(label)}, parts...)...))
	return sum[:]
}

func commitmentOf(context []byte, participant string, entropy []byte) []byte {
	return digest("bot-commit", context, []byte(participant), entropy)
}

// viewOf is the context of a deal-set as one participant is told it.
func viewOf(deal []byte, participant string, salt []byte) []byte {
	return digest("view", deal, []byte(participant), salt)
}

// sealOf is what binds the arena to a transcript that it does not show yet.
func sealOf(context, transcript, salt []byte) []byte {
	return digest("seal", context, transcript, salt)
}

// shownOf ties together all that one participant is shown before it reveals.
func shownOf(context, serverCommitment []byte, participant string, commitment, seal []byte) []byte {
	return digest("view-transcript", context, serverCommitment, joined([]byte(participant), commitment), seal)
}

func transcriptOf(context, serverCommitment []byte, commitments map[string][]byte) []byte {
	return digest("transcript", append([][]byte{context, serverCommitment}, pairs(commitments)...)...)
}

// keyOf is what all packs of the deal-set follow from.
func keyOf(transcript, secret []byte, entropies map[string][]byte) []byte {
	mac := hmac.New(sha256.New, transcript)
	mac.Write(joined(append([][]byte{secret}, pairs(entropies)...)...))
	return mac.Sum(nil)
}

func pairs(values map[string][]byte) [][]byte {
	var all [][]byte
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, joined([]byte(name), values[name]))
	}
	return all
}

// shown is what the bot was shown in one match, as a chain of hashes over its asks.
type shown struct {
	match   uint32
	game    string
	seat    uint32
	matchID string
	chain   []byte
	asks    []link
	end     []byte
	last    []byte // SHA-256 of the last ask's payload
}

// A link is a decision with the first 8 hexadecimal digits of the chain after it.
type link struct {
	decision uint32
	digits   string
}

// An opening is what the arena opens of a deal-set when it is over, by participant.
type opening struct {
	deal, secret                  []byte
	commitments, entropies, salts map[string][]byte
}

func (o *opening) transcript() []byte {
	return transcriptOf(o.deal, digest("server-commit", o.deal, o.secret), o.commitments)
}

// A deal is one deal-set, as this bot knows it.
type deal struct {
	context, serverCommitment []byte // its own, and the arena's under it
	participant               string
	entropy                   []byte // empty if this process never knew it
	stood                     []byte // then the commitment that the arena has of the bot
	due                       time.Time
	shown, seal               []byte // its commitment as it was shown, and the seal; nil before
	publicKey, signature      []byte
	refused                   bool
	opened                    *opening // nil before
	voidReason                string
	lies                      []string
	matches                   map[uint32]*shown
	order                     []uint32 // of matches
}

func (d *deal) commitment() []byte {
	if len(d.entropy) == 0 {
		return d.stood
	}
	return commitmentOf(d.context, d.participant, d.entropy)
}

// takesPart says whether the bot's own entropy was shown to be in it.
func (d *deal) takesPart() bool {
	return len(d.entropy) > 0 && bytes.Equal(d.shown, d.commitment())
}

// transcript is the hash over all that the bot saw before it revealed.
func (d *deal) transcript() []byte {
	if d.shown == nil {
		return nil
	}
	return shownOf(d.context, d.serverCommitment, d.participant, d.shown, d.seal)
}

func (d *deal) key() []byte {
	if d.shown == nil || d.opened == nil || d.voidReason != "" {
		return nil
	}
	return keyOf(d.opened.transcript(), d.opened.secret, d.opened.entropies)
}

func dealName(context []byte) string {
	digits := hex.EncodeToString(context)
	return digits[:min(12, len(digits))]
}

// A reaction is what is to be done about a message of the arena.
type reaction struct {
	send []*v1.BotMessage
	say  []string
}

// deals are all fair deals that a bot takes part in.
type deals struct {
	lies   []string
	folder *folder // nil if no receipts are kept
	draw   func() []byte
	known  map[string]*deal
	oldest []string
	over   map[string]bool
	closed []string
	// contexts of matches in play; told are those that this stream has told of.
	contexts map[uint32]string
	told     map[uint32]bool
}

func newDeals(folder *folder) *deals {
	draw := func() []byte {
		entropy := make([]byte, hashBytes)
		if _, err := rand.Read(entropy); err != nil {
			panic(err) // crypto/rand never fails on the systems that Go supports
		}
		return entropy
	}
	return &deals{
		folder: folder, draw: draw, known: map[string]*deal{}, over: map[string]bool{},
		contexts: map[uint32]string{}, told: map[uint32]bool{},
	}
}

// onStream: another stream begins. What is in play, it will tell.
func (d *deals) onStream() { clear(d.told) }

// onOpen commits, or says why not.
func (d *deals) onOpen(message *v1.DealOpen, now time.Time) (r reaction) {
	context, commitment := message.GetContext(), message.GetServerCommitment()
	if len(context) != hashBytes || len(commitment) != hashBytes {
		r.say = append(r.say, "took no part in a fair deal that was not named as one")
		return r
	}
	own := d.find(context, message.GetParticipant())
	if d.over[string(context)] {
		d.lie(&r, context, "it opens a deal-set again whose packs are known")
		return r
	}
	stands := message.GetCommitment()
	if own == nil {
		own = &deal{
			context: context, serverCommitment: commitment, participant: message.GetParticipant(),
			publicKey: message.GetPublicKey(), stood: stands, matches: map[uint32]*shown{},
		}
		if len(stands) == 0 {
			own.entropy = d.draw()
		}
		d.remember(own)
		d.keep(&r, own)
	} else if !bytes.Equal(own.serverCommitment, commitment) || own.participant != message.GetParticipant() || !bytes.Equal(own.publicKey, message.GetPublicKey()) {
		own.refused = true
		d.lie(&r, context, "it committed itself twice, and differently")
		return r
	}
	if len(stands) > 0 && !bytes.Equal(stands, noCommitment) && !bytes.Equal(stands, own.commitment()) {
		own.refused = true
		d.lie(&r, context, "it replaced this bot's commitment")
		return r
	}
	if len(stands) > 0 {
		return r // the arena has it, or it is too late
	}
	own.due = now.Add(time.Duration(message.GetDeadlineMs()) * time.Millisecond)
	commit := &v1.DealCommit{Context: context, Commitment: own.commitment()}
	r.send = append(r.send, &v1.BotMessage{Body: &v1.BotMessage_DealCommit{DealCommit: commit}})
	return r
}

// onTranscript reveals, or says why not.
func (d *deals) onTranscript(message *v1.DealTranscript, now time.Time) (r reaction) {
	context := message.GetContext()
	own := d.find(context, "")
	if own == nil {
		if !d.over[string(context)] {
			r.say = append(r.say, notRevealed(context))
		}
		return r
	}
	what := ""
	if own.shown == nil {
		early := now.Before(own.due.Add(-jitterOfDeadline))
		if what = wrongTranscript(own, message.GetCommitment(), message.GetSeal(), early); what == "" {
			own.shown, own.seal, own.signature = message.GetCommitment(), message.GetSeal(), message.GetSignature()
		}
	} else if !bytes.Equal(message.GetCommitment(), own.shown) || !bytes.Equal(message.GetSeal(), own.seal) {
		what = "it shows a second transcript, which differs from the first"
	}
	if what != "" {
		own.refused = true
		d.lie(&r, context, what+"; nothing is revealed")
	} else if len(own.publicKey) > 0 && len(own.signature) != signatureBytes {
		// No reason to stay silent: that would cost the bot the deal-set.
		d.lie(&r, context, "it has a key, and does not sign what it shows")
	}
	d.keep(&r, own)
	if len(own.entropy) == 0 && !bytes.Equal(own.commitment(), noCommitment) {
		r.say = append(r.say, notRevealed(context))
	}
	if own.takesPart() && !own.refused {
		reveal := &v1.DealReveal{Context: context, Entropy: own.entropy}
		r.send = append(r.send, &v1.BotMessage{Body: &v1.BotMessage_DealReveal{DealReveal: reveal}})
	}
	return r
}

func notRevealed(context []byte) string {
	return "deal-set " + dealName(context) + ": not revealed, as this process had not committed to it"
}

// onClose checks all that is opened.
func (d *deals) onClose(message *v1.DealClose) (r reaction) {
	context := message.GetContext()
	own := d.find(context, "")
	if own == nil {
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
	own.opened, own.voidReason = opened, message.GetVoidReason()
	if !slices.Equal(names, slices.Sorted(maps.Keys(opened.entropies))) {
		d.lie(&r, context, "it opens participants out of order, or one twice")
	} else if what := wrongOpening(own, opened); what != "" {
		d.lie(&r, context, what)
	}
	if own.voidReason != "" {
		r.say = append(r.say, "deal-set "+dealName(context)+" is void: "+own.voidReason)
	} else if !own.takesPart() {
		r.say = append(r.say, "deal-set "+dealName(context)+" was fixed without this bot's entropy")
	}
	if own.voidReason == "" {
		for _, match := range slices.Sorted(maps.Keys(d.told)) {
			if d.contexts[match] == string(context) {
				d.lie(&r, context, fmt.Sprintf("it opens the packs while match %d is played with them", match))
				break
			}
		}
	}
	d.keep(&r, own)
	delete(d.known, string(context))
	d.finish(context)
	return r
}

// The bot's matches.

func (d *deals) onMatchStart(start *v1.MatchStart) (r reaction) {
	context := start.GetDealContext()
	if len(context) == 0 {
		return r
	}
	d.contexts[start.GetMatch()] = string(context)
	d.told[start.GetMatch()] = true
	if d.over[string(context)] {
		d.lie(&r, context, fmt.Sprintf("it begins match %d with packs that are known", start.GetMatch()))
	}
	if own := d.find(context, ""); own != nil && own.matches[start.GetMatch()] == nil {
		own.matches[start.GetMatch()] = &shown{
			match: start.GetMatch(), game: start.GetTerms().GetGame(), seat: start.GetSeat(),
			matchID: start.GetMatchId(), chain: make([]byte, hashBytes),
		}
		own.order = append(own.order, start.GetMatch())
	}
	return r
}

func (d *deals) onAsk(ask *v1.Ask) (r reaction) {
	was := d.shownIn(ask.GetMatch())
	body := gameOf(ask)
	if was == nil || body == nil || ask.GetDecision() == 0 {
		return r
	}
	payload := encoded(body)
	sum := sha256.Sum256(payload)
	last := uint32(0)
	if len(was.asks) > 0 {
		last = was.asks[len(was.asks)-1].decision
	}
	switch {
	case ask.GetDecision() > last:
		next := binary.BigEndian.AppendUint32(slices.Clone(was.chain), ask.GetDecision())
		chain := sha256.Sum256(append(next, payload...))
		was.chain, was.last = chain[:], sum[:]
		was.asks = append(was.asks, link{ask.GetDecision(), hex.EncodeToString(chain[:4])})
	case ask.GetDecision() == last && !bytes.Equal(sum[:], was.last):
		what := fmt.Sprintf("it asks decision %d of match %d twice, and differently", last, ask.GetMatch())
		d.lie(&r, []byte(d.contexts[ask.GetMatch()]), what)
	}
	return r
}

func (d *deals) onMatchEnd(end *v1.MatchEnd) (r reaction) {
	was := d.shownIn(end.GetMatch())
	context := d.contexts[end.GetMatch()]
	delete(d.contexts, end.GetMatch())
	delete(d.told, end.GetMatch())
	if was != nil {
		if end.GetEnding() != v1.Ending_ENDING_UNSPECIFIED {
			if end.GetReplayId() != "" {
				was.matchID = end.GetReplayId()
			}
			was.end = endSum(end)
		}
		d.keep(&r, d.known[context])
	}
	return r
}

// endSum is SHA-256 over the joined events that the end of a match told.
func endSum(end *v1.MatchEnd) []byte {
	var events [][]byte
	for _, event := range end.GetTrailingEvents() {
		if body := gameOf(event); body != nil {
			events = append(events, encoded(body))
		}
	}
	sum := sha256.Sum256(joined(events...))
	return sum[:]
}

// encoded is a message as it came on the wire, its fields in the order of their numbers.
func encoded(message proto.Message) []byte {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		panic(err) // it was read from bytes
	}
	return data
}

// Inside.

func (d *deals) shownIn(match uint32) *shown {
	if own := d.known[d.contexts[match]]; own != nil && d.folder != nil {
		return own.matches[match]
	}
	return nil
}

// find is a deal that is not closed, from before this process was started too.
func (d *deals) find(context []byte, participant string) *deal {
	own := d.known[string(context)]
	if own != nil || d.folder == nil || d.over[string(context)] {
		return own
	}
	own = d.folder.recall(context, participant)
	if own == nil {
		return nil
	}
	if own.opened != nil {
		d.finish(context)
		return nil
	}
	d.remember(own)
	return own
}

func (d *deals) remember(own *deal) {
	d.known[string(own.context)] = own
	if d.oldest = append(d.oldest, string(own.context)); len(d.oldest) > rememberedDeals {
		delete(d.known, d.oldest[0])
		d.oldest = d.oldest[1:]
	}
}

func (d *deals) finish(context []byte) {
	d.over[string(context)] = true
	if d.closed = append(d.closed, string(context)); len(d.closed) > rememberedDeals {
		delete(d.over, d.closed[0])
		d.closed = d.closed[1:]
	}
}

func (d *deals) keep(r *reaction, own *deal) {
	if d.folder != nil {
		if err := d.folder.keep(own); err != nil {
			r.say = append(r.say, fmt.Sprintf("the receipt of deal-set %s is not kept: %v", dealName(own.context), err))
		}
	}
}

// lie notes a lie of the arena, and says it if it is new.
func (d *deals) lie(r *reaction, context []byte, what string) {
	line := fmt.Sprintf("the arena LIED about deal-set %s: %s", dealName(context), what)
	if own := d.known[string(context)]; own != nil && !slices.Contains(own.lies, what) {
		own.lies = append(own.lies, what)
	}
	if !slices.Contains(d.lies, line) {
		d.lies = append(d.lies, line)
		r.say = append(r.say, line)
	}
}

// wrongTranscript is what is wrong with the first transcript that a bot is shown: its own commitment
// and the seal. It is early before the time to commit was over.
func wrongTranscript(own *deal, commitment, seal []byte, early bool) string {
	switch {
	case len(commitment) != hashBytes:
		return "it left this bot's commitment out"
	case len(seal) != hashBytes:
		return "it does not bind itself to what it received"
	case bytes.Equal(commitment, own.commitment()):
		return ""
	case !bytes.Equal(commitment, noCommitment):
		return "it replaced this bot's commitment"
	case early:
		return "it did not wait for this bot's commitment, or dropped it"
	}
	return ""
}

// wrongOpening is what is wrong with what the arena opened.
func wrongOpening(own *deal, opened *opening) string {
	name := own.participant
	if len(opened.secret) != hashBytes || !bytes.Equal(digest("server-commit", own.context, opened.secret), own.serverCommitment) {
		return "its secret does not open its commitment"
	}
	salt := opened.salts[name]
	if len(salt) != saltBytes || !bytes.Equal(viewOf(opened.deal, name, salt), own.context) {
		return "it opens another deal-set than it had named to this bot"
	}
	entropy := opened.entropies[name]
	if own.shown == nil {
		if len(entropy) > 0 {
			return "it opens entropy that this bot never revealed"
		}
		return ""
	}
	if own.takesPart() && !bytes.Equal(entropy, own.entropy) && (len(entropy) > 0 || own.voidReason == "") {
		return "it replaced this bot's entropy"
	}
	if own.voidReason != "" {
		return "" // somebody's opening is missing or wrong: that is why
	}
	if !bytes.Equal(opened.commitments[name], own.shown) {
		return "it opens another commitment of this bot's than it had shown"
	}
	if !bytes.Equal(sealOf(own.context, opened.transcript(), salt), own.seal) {
		return "it opens other commitments than it had bound itself to"
	}
	for _, each := range slices.Sorted(maps.Keys(opened.commitments)) {
		commitment, entropy := opened.commitments[each], opened.entropies[each]
		context := viewOf(opened.deal, each, opened.salts[each])
		if bytes.Equal(commitment, noCommitment) {
			if len(entropy) > 0 {
				return "participant " + each + " added entropy without having committed to it"
			}
		} else if len(entropy) != hashBytes || !bytes.Equal(commitmentOf(context, each, entropy), commitment) {
			return "the entropy of participant " + each + " does not open its commitment"
		}
	}
	return ""
}
