package cardarena

import (
	"bytes"
	"encoding/hex"
	"time"
)

// An askChain is a hash chain over the asks that the bot received in one match.
type askChain struct {
	matchNumber uint32
	game        string
	seat        uint32
	matchID     string
	hash        []byte // after the last ask
	links       []chainLink
	endSHA256   []byte // of the events that came with the end of the match; empty before
	lastSHA256  []byte // of the payload of the last ask
}

// A chainLink is a decision with the first 8 hexadecimal digits of the hash after it.
type chainLink struct {
	decision uint32
	digits   string
}

// An opening is what the arena publishes when a deal-set is over, by participant.
type opening struct {
	deal, secret                  []byte
	commitments, entropies, salts map[string][]byte
}

func (o *opening) transcript() []byte {
	return transcriptOf(o.deal, digest("server-commit", o.deal, o.secret), o.commitments)
}

// A dealSet is one deal-set, as this bot knows it. A receipt stores it.
type dealSet struct {
	context          []byte // identifies the deal-set to this bot
	serverCommitment []byte // of the arena, to its secret
	participant      string
	entropy          []byte    // empty if another process of this bot committed to it
	priorCommitment  []byte    // that the arena already has, if entropy is empty
	due              time.Time // when the time to commit ends
	shownCommitment  []byte    // the bot's commitment in the arena's transcript; empty before
	seal             []byte
	publicKey        []byte
	signature        []byte
	refused          bool     // whether the bot keeps its entropy to itself because the arena lied
	opening          *opening // nil before the deal-set is over
	voidReason       string
	lies             []string
	chains           map[uint32]*askChain
	chainOrder       []uint32
}

func (d *dealSet) commitment() []byte {
	if len(d.entropy) == 0 {
		return d.priorCommitment
	}
	return commitmentOf(d.context, d.participant, d.entropy)
}

// takesPart reports whether the transcript includes the bot's entropy.
func (d *dealSet) takesPart() bool {
	return len(d.entropy) > 0 && bytes.Equal(d.shownCommitment, d.commitment())
}

// transcript is the hash over everything that the bot saw before it revealed its entropy.
func (d *dealSet) transcript() []byte {
	if len(d.shownCommitment) == 0 {
		return nil
	}
	return viewTranscriptOf(d.context, d.serverCommitment, d.participant, d.shownCommitment, d.seal)
}

// key is the key from which all packs are derived. It is nil before the opening, and if the deal-set is void.
func (d *dealSet) key() []byte {
	if len(d.shownCommitment) == 0 || d.opening == nil || d.voidReason != "" {
		return nil
	}
	return keyOf(d.opening.transcript(), d.opening.secret, d.opening.entropies)
}

// dealName is the name of a deal-set in messages.
func dealName(context []byte) string {
	digits := hex.EncodeToString(context)
	return digits[:min(12, len(digits))]
}
