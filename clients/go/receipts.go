package cardarena

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const receiptFormat = "fd2"

// A folder has receipts, one file for each deal-set. It belongs to one bot alone: a bot that is
// restarted finds its entropy there, as a receipt is written before anything is revealed.
type folder struct{ path string }

func newFolder(path string) (*folder, error) {
	return &folder{path}, os.MkdirAll(path, 0o755)
}

// A receipt is the JSON of docs/fair-deals.md; what is not known yet is null.
type receipt struct {
	Receipt          string         `json:"receipt"`
	Context          digits         `json:"context"`
	ServerCommitment digits         `json:"server_commitment"`
	Participant      string         `json:"participant"`
	Entropy          digits         `json:"entropy"`
	Commitment       digits         `json:"commitment"`
	Shown            digits         `json:"shown"`
	Seal             digits         `json:"seal"`
	Transcript       digits         `json:"transcript"`
	PublicKey        digits         `json:"public_key"`
	Signature        digits         `json:"signature"`
	Refused          bool           `json:"refused"`
	Deal             digits         `json:"deal"`
	Secret           digits         `json:"secret"`
	Commitments      *named         `json:"commitments"`
	Entropies        *named         `json:"entropies"`
	Salts            *named         `json:"salts"`
	DealKey          digits         `json:"deal_key"`
	VoidReason       string         `json:"void_reason"`
	Lies             []string       `json:"lies"`
	Matches          []matchReceipt `json:"matches"`
}

type matchReceipt struct {
	Match    uint32  `json:"match"`
	ReplayID *string `json:"replay_id"`
	Game     string  `json:"game"`
	Seat     uint32  `json:"seat"`
	Asks     []link  `json:"asks"`
	Chain    digits  `json:"chain"`
	End      digits  `json:"end"`
	Last     digits  `json:"last_sha256"`
}

// digits are bytes in hexadecimal; none are null.
type digits []byte

// MarshalJSON writes them.
func (d digits) MarshalJSON() ([]byte, error) {
	if len(d) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(d))
}

// UnmarshalJSON reads them.
func (d *digits) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	found, err := hex.DecodeString(text)
	*d = found
	return err
}

// named are bytes by participant, in hexadecimal; none are an empty text.
type named map[string][]byte

// MarshalJSON writes them.
func (n named) MarshalJSON() ([]byte, error) {
	texts := map[string]string{}
	for name, value := range n {
		texts[name] = hex.EncodeToString(value)
	}
	return json.Marshal(texts)
}

// UnmarshalJSON reads them.
func (n *named) UnmarshalJSON(data []byte) error {
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*n = named{}
	for name, text := range texts {
		value, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		(*n)[name] = value
	}
	return nil
}

// MarshalJSON writes [decision, digits].
func (l link) MarshalJSON() ([]byte, error) { return json.Marshal([]any{l.decision, l.digits}) }

// UnmarshalJSON reads it.
func (l *link) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&l.decision, &l.digits})
}

// keep writes a deal as it is now, whole or not at all.
func (f *folder) keep(own *deal) error {
	data, err := json.Marshal(receiptOf(own))
	if err != nil {
		return err
	}
	path := filepath.Join(f.path, fileName(own.context, own.participant)+".json")
	partial := fmt.Sprintf("%s.%d.partial", path, os.Getpid())
	// Before it is revealed, the entropy is nobody else's business.
	if err := os.WriteFile(partial, append(data, '\n'), 0o600); err != nil {
		os.Remove(partial)
		return err
	}
	return os.Rename(partial, path)
}

// recall is the deal that was kept, of any participant if none is named; nil if there is no
// receipt, or more than one.
func (f *folder) recall(context []byte, participant string) *deal {
	found, err := filepath.Glob(filepath.Join(f.path, fileName(context, participant)+".json"))
	if err != nil || len(found) != 1 {
		return nil
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil
	}
	var kept receipt
	if json.Unmarshal(data, &kept) != nil || kept.Receipt != receiptFormat || !bytes.Equal(kept.Context, context) {
		return nil // not a receipt, or not whole
	}
	return kept.deal()
}

// fileName is what a receipt is filed under. Whatever the arena calls a participant, it is no path.
func fileName(context []byte, participant string) string {
	own := "*"
	if participant != "" {
		sum := sha256.Sum256([]byte(participant))
		own = hex.EncodeToString(sum[:4])
	}
	return hex.EncodeToString(context[:min(8, len(context))]) + "-" + own
}

func receiptOf(own *deal) *receipt {
	r := &receipt{
		Receipt: receiptFormat, Context: own.context, ServerCommitment: own.serverCommitment,
		Participant: own.participant, Entropy: own.entropy, Commitment: own.commitment(),
		Shown: own.shown, Seal: own.seal, Transcript: own.transcript(),
		PublicKey: own.publicKey, Signature: own.signature,
		Refused: own.refused, DealKey: own.key(), VoidReason: own.voidReason,
		Lies: append([]string{}, own.lies...), Matches: []matchReceipt{},
	}
	if opened := own.opened; opened != nil {
		r.Deal, r.Secret = opened.deal, opened.secret
		r.Commitments, r.Entropies, r.Salts = (*named)(&opened.commitments), (*named)(&opened.entropies), (*named)(&opened.salts)
	}
	for _, number := range own.order {
		was := own.matches[number]
		one := matchReceipt{
			Match: was.match, Game: was.game, Seat: was.seat, Asks: append([]link{}, was.asks...),
			Chain: was.chain, End: was.end, Last: was.last,
		}
		if was.matchID != "" {
			one.ReplayID = &was.matchID
		}
		r.Matches = append(r.Matches, one)
	}
	return r
}

func (r *receipt) deal() *deal {
	own := &deal{
		context: r.Context, serverCommitment: r.ServerCommitment, participant: r.Participant,
		entropy: r.Entropy, publicKey: r.PublicKey, signature: r.Signature, refused: r.Refused,
		shown: r.Shown, seal: r.Seal, voidReason: r.VoidReason, lies: r.Lies, matches: map[uint32]*shown{},
	}
	if len(r.Entropy) == 0 {
		own.stood = r.Commitment
	}
	if r.Commitments != nil && r.Entropies != nil && r.Salts != nil {
		own.opened = &opening{r.Deal, r.Secret, *r.Commitments, *r.Entropies, *r.Salts}
	}
	for _, one := range r.Matches {
		was := &shown{match: one.Match, game: one.Game, seat: one.Seat, chain: one.Chain, asks: one.Asks, end: one.End, last: one.Last}
		if one.ReplayID != nil {
			was.matchID = *one.ReplayID
		}
		own.matches[one.Match] = was
		own.order = append(own.order, one.Match)
	}
	return own
}
