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

// A receiptFolder is a folder of receipts, with a file for each deal-set. Each bot needs a folder of its own. A
// restarted bot reads its entropy from it, because a receipt is written before the bot reveals anything.
type receiptFolder struct{ path string }

func newReceiptFolder(path string) (*receiptFolder, error) {
	return &receiptFolder{path}, os.MkdirAll(path, 0o755)
}

// A receipt is the JSON of docs/fair-deals.md. What is not known yet is null.
type receipt struct {
	Receipt          string            `json:"receipt"`
	Context          hexBytes          `json:"context"`
	ServerCommitment hexBytes          `json:"server_commitment"`
	Participant      string            `json:"participant"`
	Entropy          hexBytes          `json:"entropy"`
	Commitment       hexBytes          `json:"commitment"`
	Shown            hexBytes          `json:"shown"`
	Seal             hexBytes          `json:"seal"`
	Transcript       hexBytes          `json:"transcript"`
	PublicKey        hexBytes          `json:"public_key"`
	Signature        hexBytes          `json:"signature"`
	Refused          bool              `json:"refused"`
	Deal             hexBytes          `json:"deal"`
	Secret           hexBytes          `json:"secret"`
	Commitments      *hexByParticipant `json:"commitments"`
	Entropies        *hexByParticipant `json:"entropies"`
	Salts            *hexByParticipant `json:"salts"`
	DealKey          hexBytes          `json:"deal_key"`
	VoidReason       string            `json:"void_reason"`
	Lies             []string          `json:"lies"`
	Matches          []matchReceipt    `json:"matches"`
}

type matchReceipt struct {
	Match    uint32      `json:"match"`
	ReplayID *string     `json:"replay_id"`
	Game     string      `json:"game"`
	Seat     uint32      `json:"seat"`
	Asks     []chainLink `json:"asks"`
	Chain    hexBytes    `json:"chain"`
	End      hexBytes    `json:"end"`
	Last     hexBytes    `json:"last_sha256"`
}

// hexBytes are bytes that JSON has in hexadecimal, or as null if there are none.
type hexBytes []byte

// MarshalJSON encodes the bytes.
func (b hexBytes) MarshalJSON() ([]byte, error) {
	if len(b) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(b))
}

// UnmarshalJSON decodes the bytes.
func (b *hexBytes) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	decoded, err := hex.DecodeString(text)
	*b = decoded
	return err
}

// hexByParticipant has bytes by participant, which JSON has in hexadecimal; no bytes are an empty text.
type hexByParticipant map[string][]byte

// MarshalJSON encodes the map.
func (h hexByParticipant) MarshalJSON() ([]byte, error) {
	texts := map[string]string{}
	for name, value := range h {
		texts[name] = hex.EncodeToString(value)
	}
	return json.Marshal(texts)
}

// UnmarshalJSON decodes the map.
func (h *hexByParticipant) UnmarshalJSON(data []byte) error {
	var texts map[string]string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	*h = hexByParticipant{}
	for name, text := range texts {
		value, err := hex.DecodeString(text)
		if err != nil {
			return err
		}
		(*h)[name] = value
	}
	return nil
}

// MarshalJSON encodes the link as [decision, digits].
func (l chainLink) MarshalJSON() ([]byte, error) { return json.Marshal([]any{l.decision, l.digits}) }

// UnmarshalJSON decodes [decision, digits].
func (l *chainLink) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&l.decision, &l.digits})
}

// write writes the receipt of a deal-set. A failure leaves the previous receipt as it was.
func (f *receiptFolder) write(deal *dealSet) error {
	data, err := json.Marshal(receiptOf(deal))
	if err != nil {
		return err
	}
	path := filepath.Join(f.path, fileName(deal.context, deal.participant)+".json")
	partial := fmt.Sprintf("%s.%d.partial", path, os.Getpid())
	// Only the owner can read it: the entropy is secret until the bot reveals it.
	if err := os.WriteFile(partial, append(data, '\n'), 0o600); err != nil {
		os.Remove(partial)
		return err
	}
	return os.Rename(partial, path)
}

// read reads the receipt of a deal-set, or is nil if there is no valid receipt. Without a participant, it reads
// the receipt of any; it is nil if there are several.
func (f *receiptFolder) read(context []byte, participant string) *dealSet {
	paths, err := filepath.Glob(filepath.Join(f.path, fileName(context, participant)+".json"))
	if err != nil || len(paths) != 1 {
		return nil
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		return nil
	}
	var r receipt
	if json.Unmarshal(data, &r) != nil || r.Receipt != receiptFormat || !bytes.Equal(r.Context, context) {
		return nil // not a complete receipt
	}
	return r.dealSet()
}

// fileName is the name of a receipt. It has a hash of the participant's name, because the arena may send a name
// that is a path.
func fileName(context []byte, participant string) string {
	suffix := "*"
	if participant != "" {
		sum := sha256.Sum256([]byte(participant))
		suffix = hex.EncodeToString(sum[:4])
	}
	return hex.EncodeToString(context[:min(8, len(context))]) + "-" + suffix
}

func receiptOf(deal *dealSet) *receipt {
	r := &receipt{
		Receipt: receiptFormat, Context: deal.context, ServerCommitment: deal.serverCommitment,
		Participant: deal.participant, Entropy: deal.entropy, Commitment: deal.commitment(),
		Shown: deal.shownCommitment, Seal: deal.seal, Transcript: deal.transcript(),
		PublicKey: deal.publicKey, Signature: deal.signature,
		Refused: deal.refused, DealKey: deal.key(), VoidReason: deal.voidReason,
		Lies: append([]string{}, deal.lies...), Matches: []matchReceipt{},
	}
	if opened := deal.opening; opened != nil {
		r.Deal, r.Secret = opened.deal, opened.secret
		r.Commitments, r.Entropies, r.Salts = (*hexByParticipant)(&opened.commitments), (*hexByParticipant)(&opened.entropies), (*hexByParticipant)(&opened.salts)
	}
	for _, number := range deal.chainOrder {
		chain := deal.chains[number]
		match := matchReceipt{
			Match: chain.matchNumber, Game: chain.game, Seat: chain.seat, Asks: append([]chainLink{}, chain.links...),
			Chain: chain.hash, End: chain.endSHA256, Last: chain.lastSHA256,
		}
		if chain.matchID != "" {
			match.ReplayID = &chain.matchID
		}
		r.Matches = append(r.Matches, match)
	}
	return r
}

func (r *receipt) dealSet() *dealSet {
	deal := &dealSet{
		context: r.Context, serverCommitment: r.ServerCommitment, participant: r.Participant,
		entropy: r.Entropy, publicKey: r.PublicKey, signature: r.Signature, refused: r.Refused,
		shownCommitment: r.Shown, seal: r.Seal, voidReason: r.VoidReason, lies: r.Lies, chains: map[uint32]*askChain{},
	}
	if len(r.Entropy) == 0 {
		deal.priorCommitment = r.Commitment
	}
	if r.Commitments != nil && r.Entropies != nil && r.Salts != nil {
		deal.opening = &opening{r.Deal, r.Secret, *r.Commitments, *r.Entropies, *r.Salts}
	}
	for _, match := range r.Matches {
		chain := &askChain{
			matchNumber: match.Match, game: match.Game, seat: match.Seat, hash: match.Chain, links: match.Asks,
			endSHA256: match.End, lastSHA256: match.Last,
		}
		if match.ReplayID != nil {
			chain.matchID = *match.ReplayID
		}
		deal.chains[match.Match] = chain
		deal.chainOrder = append(deal.chainOrder, match.Match)
	}
	return deal
}
