package cardarena

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	v1 "cardarena.dev/cardarena/cardarenav1"
)

// vectors are those of the arena's tests.
const vectors = "../../tests/referee/deal/"

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(vectors + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHashesAreAsInTheVectors(t *testing.T) {
	var all []struct {
		Name        string
		Deal        string            `json:"ctx"`
		Secret      string            `json:"S"`
		Entropies   map[string]string `json:"r"`
		Salts       map[string]string
		Views       map[string]string
		Server      map[string]string `json:"server_commits"`
		Commitments map[string]string `json:"commits"`
		Transcript  string            `json:"T"`
		Seals       map[string]string
		Own         map[string]string `json:"view_transcripts"`
		Key         string            `json:"K"`
	}
	read(t, "fd2_vectors.json", &all)
	same := func(what string, got []byte, want string) {
		t.Helper()
		if hex.EncodeToString(got) != want {
			t.Errorf("%s is %x, not %s", what, got, want)
		}
	}
	for _, v := range all {
		opened := &opening{unhex(t, v.Deal), unhex(t, v.Secret), map[string][]byte{}, map[string][]byte{}, map[string][]byte{}}
		for name, salt := range v.Salts {
			opened.salts[name], opened.entropies[name] = unhex(t, salt), unhex(t, v.Entropies[name])
			opened.commitments[name] = unhex(t, v.Commitments[name])
		}
		transcript := opened.transcript()
		same("the transcript", transcript, v.Transcript)
		same("the key", keyOf(transcript, opened.secret, opened.entropies), v.Key)
		for name, salt := range opened.salts {
			view := viewOf(opened.deal, name, salt)
			same("the view", view, v.Views[name])
			server := digest("server-commit", view, opened.secret)
			same("the arena's commitment", server, v.Server[name])
			if entropy := opened.entropies[name]; len(entropy) > 0 {
				same("the bot's commitment", commitmentOf(view, name, entropy), v.Commitments[name])
			}
			seal := sealOf(view, transcript, salt)
			same("the seal", seal, v.Seals[name])
			same("the transcript of one participant", viewTranscriptOf(view, server, name, opened.commitments[name], seal), v.Own[name])
		}
	}
}

func TestAReceiptIsAsInTheVectors(t *testing.T) {
	var v struct {
		ArenaSays []string `json:"arena_says"`
		BotDraws  string   `json:"bot_draws"`
		Receipt   map[string]any
	}
	read(t, "receipt_vectors.json", &v)
	receipts, err := newReceiptFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fairDeals := newDeals(receipts)
	fairDeals.drawEntropy = func() []byte { return unhex(t, v.BotDraws) }
	s := newSession(&v1.Hello{}, true, fairDeals)
	s.streamOpened(newOutbox())
	for _, text := range v.ArenaSays {
		message := &v1.ArenaMessage{}
		if err := proto.Unmarshal(unhex(t, text), message); err != nil {
			t.Fatal(err)
		}
		s.receive(message, time.Now())
	}
	files, err := os.ReadDir(receipts.path)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(receipts.path + "/" + files[0].Name())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range v.Receipt {
		if !reflect.DeepEqual(got[name], want) {
			t.Errorf("%s is %v, not %v", name, got[name], want)
		}
	}
}

func TestARestartedBotLoadsItsEntropy(t *testing.T) {
	receipts, err := newReceiptFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	context := bytes.Repeat([]byte{1}, hashBytes)
	open := &v1.DealOpen{Context: context, ServerCommitment: context, Participant: "me", DeadlineMs: 5000}
	first := newDeals(receipts).onOpen(open, time.Now()).send[0].GetDealCommit()
	restarted := newDeals(receipts)
	second := restarted.onOpen(open, time.Now()).send[0].GetDealCommit()
	if !proto.Equal(first, second) {
		t.Error("it sent two different commitments")
	}
	transcript := &v1.DealTranscript{Context: context, Commitment: first.GetCommitment(), Seal: context}
	if r := restarted.onTranscript(transcript, time.Now()); len(r.send) != 1 || len(restarted.lies) > 0 {
		t.Error("it did not reveal its entropy", r.warnings)
	}
	other := proto.CloneOf(open)
	other.Participant = "../you"
	if third := newDeals(receipts).onOpen(other, time.Now()).send[0].GetDealCommit(); proto.Equal(first, third) {
		t.Error("two participants have the same entropy")
	}
	if files, _ := os.ReadDir(receipts.path); len(files) != 2 {
		t.Error("a receipt is in another folder")
	}
}

func TestLiesInAnOpeningAreFound(t *testing.T) {
	bytesOf := func(value byte) []byte { return bytes.Repeat([]byte{value}, 32) }
	secret, own, other := bytesOf(2), bytesOf(3), bytesOf(4)
	made := func() (*dealSet, *opening) {
		o := &opening{bytesOf(1), secret, map[string][]byte{}, map[string][]byte{"me": own, "you": other, "zoe": nil}, map[string][]byte{"me": bytesOf(5), "you": bytesOf(6), "zoe": bytesOf(7)}}
		for name, entropy := range o.entropies {
			if o.commitments[name] = noCommitment; entropy != nil {
				o.commitments[name] = commitmentOf(viewOf(o.deal, name, o.salts[name]), name, entropy)
			}
		}
		view := viewOf(o.deal, "me", o.salts["me"])
		return &dealSet{
			context: view, serverCommitment: digest("server-commit", view, secret), participant: "me", entropy: own,
			shownCommitment: o.commitments["me"], seal: sealOf(view, o.transcript(), o.salts["me"]),
		}, o
	}
	for _, row := range []struct {
		why    string
		change func(*dealSet, *opening)
		lie    bool
	}{
		{"the right opening", func(*dealSet, *opening) {}, false},
		{"a secret that does not match", func(_ *dealSet, o *opening) { o.secret = own }, true},
		{"another deal-set", func(_ *dealSet, o *opening) { o.deal = own }, true},
		{"own bytes changed", func(_ *dealSet, o *opening) { o.entropies["me"] = other }, true},
		{"own bytes left out", func(_ *dealSet, o *opening) { delete(o.entropies, "me") }, true},
		{"own commitment changed", func(_ *dealSet, o *opening) { o.commitments["me"] = own }, true},
		{"another participant's bytes changed", func(_ *dealSet, o *opening) { o.entropies["you"] = own }, true},
		{"another participant's bytes and commitment changed", func(_ *dealSet, o *opening) {
			o.entropies["you"], o.commitments["you"] = own, commitmentOf(viewOf(o.deal, "you", o.salts["you"]), "you", own)
		}, true},
		{"bytes of one who does not take part", func(_ *dealSet, o *opening) { o.entropies["zoe"] = own }, true},
		{"one participant too many", func(_ *dealSet, o *opening) { o.commitments["bob"] = noCommitment }, true},
		{"void: another participant's bytes missing", func(d *dealSet, o *opening) { d.voidReason = "?"; delete(o.entropies, "you") }, false},
		{"void: own bytes changed", func(d *dealSet, o *opening) { d.voidReason = "?"; o.entropies["me"] = other }, true},
	} {
		d, o := made()
		row.change(d, o)
		if got := lieInOpening(d, o); (got != "") != row.lie {
			t.Errorf("%s: %q", row.why, got)
		}
	}
}

func TestNoBytesAreNull(t *testing.T) {
	data, err := json.Marshal([]hexBytes{nil, {1, 171}})
	if err != nil || string(data) != `[null,"01ab"]` {
		t.Error(string(data), err)
	}
	var back []hexBytes
	if err := json.Unmarshal(data, &back); err != nil || !slices.EqualFunc(back, []hexBytes{nil, {1, 171}}, slices.Equal) {
		t.Error(back, err)
	}
}
