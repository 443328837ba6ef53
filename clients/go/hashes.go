package cardarena

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

// The hashes of fair deals, protocol fd2 of docs/fair-deals.md.

const hashBytes = 32

// joined concatenates byte strings, each after its length, so that different lists give different bytes.
func joined(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = binary.BigEndian.AppendUint32(all, uint32(len(part)))
		all = append(all, part...)
	}
	return all
}

// digest is the protocol's hash, with a label for each purpose.
func digest(label string, parts ...[]byte) []byte {
	sum := sha256.Sum256(joined(append([][]byte{[]byte("fd1"), []byte(label)}, parts...)...))
	return sum[:]
}

// commitmentOf is a participant's commitment to its entropy.
func commitmentOf(context []byte, participant string, entropy []byte) []byte {
	return digest("bot-commit", context, []byte(participant), entropy)
}

// viewOf is the context that identifies a deal-set to one participant.
func viewOf(deal []byte, participant string, salt []byte) []byte {
	return digest("view", deal, []byte(participant), salt)
}

// sealOf binds the arena to a transcript before it publishes it.
func sealOf(context, transcript, salt []byte) []byte {
	return digest("seal", context, transcript, salt)
}

// viewTranscriptOf binds everything that one participant sees before it reveals its entropy.
func viewTranscriptOf(context, serverCommitment []byte, participant string, commitment, seal []byte) []byte {
	return digest("view-transcript", context, serverCommitment, joined([]byte(participant), commitment), seal)
}

// transcriptOf binds all commitments of a deal-set.
func transcriptOf(context, serverCommitment []byte, commitments map[string][]byte) []byte {
	return digest("transcript", append([][]byte{context, serverCommitment}, pairs(commitments)...)...)
}

// keyOf is the key from which all packs of the deal-set are derived.
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
