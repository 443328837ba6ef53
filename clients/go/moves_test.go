package cardarena_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"cardarena.dev/cardarena"
	"cardarena.dev/cardarena/arlington"
	"cardarena.dev/cardarena/eleusis"
	"cardarena.dev/cardarena/jam"
	"cardarena.dev/cardarena/klaberjass"
	"cardarena.dev/cardarena/oklahomarummy"
	"cardarena.dev/cardarena/pineapple"
	"cardarena.dev/cardarena/soko"
)

func TestConstructorsSetTheFieldsThatTheirVerbUses(t *testing.T) {
	card := "As"
	for _, row := range []struct {
		why        string
		made, want proto.Message
	}{
		{"a bet", pineapple.Moves.Raise(40), &pineapple.Move{Verb: pineapple.VerbRaise, To: 40}},
		{"a card and a flag", klaberjass.Moves.Play("Jh", true), &klaberjass.Move{Verb: klaberjass.VerbPlay, Card: "Jh", Bela: true}},
		{"a suit", klaberjass.Moves.Name("h"), &klaberjass.Move{Verb: klaberjass.VerbName, Suit: "h"}},
		{"a rule", eleusis.Moves.Rule("card.face"), &eleusis.Move{Verb: eleusis.VerbRule, Text: "card.face"}},
		{"no optional card", eleusis.Moves.Judge(eleusis.OpinionRight, ""), &eleusis.Move{Verb: eleusis.VerbJudge, Opinion: eleusis.OpinionRight}},
		{"an optional card", eleusis.Moves.Judge(eleusis.OpinionWrong, card), &eleusis.Move{Verb: eleusis.VerbJudge, Opinion: eleusis.OpinionWrong, Card: &card}},
		{"a meld", oklahomarummy.Moves.Meld(oklahomarummy.MeldSet, "4s", "4d", "Jk"), &oklahomarummy.Move{Verb: oklahomarummy.VerbMeld, Kind: oklahomarummy.MeldSet, Cards: []string{"4s", "4d", "Jk"}}},
		{"no end, as for a set", oklahomarummy.Moves.Extend(1, "4c", 0), &oklahomarummy.Move{Verb: oklahomarummy.VerbExtend, Index: 1, Card: "4c"}},
		{"an unspecified spectrum", arlington.Moves.LeadSet([]string{"As"}, 0), &arlington.Move{Verb: arlington.VerbLeadSet, Cards: []string{"As"}}},
	} {
		if !proto.Equal(row.made, row.want) {
			t.Errorf("%s: %v, not %v", row.why, row.made, row.want)
		}
	}
}

func TestConstructorsPanicAtInvalidArguments(t *testing.T) {
	for _, row := range []struct {
		why     string
		make    func() proto.Message
		message string
	}{
		{"a card of three characters", func() proto.Message { return pineapple.Moves.Discard("10h") }, `"10h" is not a card`},
		{"an empty card", func() proto.Message { return jam.Moves.Play("") }, `"" is not a card`},
		{"one invalid card of two", func() proto.Message { return eleusis.Moves.Play("As", "Zz") }, `"Zz" is not a card`},
		{"an invalid optional card", func() proto.Message { return eleusis.Moves.Judge(eleusis.OpinionWrong, "X") }, `"X" is not a card`},
		{"an invalid suit", func() proto.Message { return klaberjass.Moves.Name("x") }, `"x" is not a suit`},
		{"an unspecified source", func() proto.Message { return jam.Moves.Draw(0) }, "source must not be unspecified"},
		{"an unknown source", func() proto.Message { return jam.Moves.Draw(99) }, "source is 99, which is not a JamSource"},
		{"an unknown spectrum", func() proto.Message { return arlington.Moves.LeadSet([]string{"As"}, 9) }, "spectrum is 9"},
	} {
		func() {
			defer func() {
				if message, _ := recover().(string); !strings.Contains(message, row.message) {
					t.Errorf("%s: the panic is %q, not %q", row.why, message, row.message)
				}
			}()
			row.make()
		}()
	}
}

func TestBetsAreTheRangeOfTheView(t *testing.T) {
	if _, ok := soko.Bets(&soko.View{}); ok {
		t.Error("a seat that may not bet has a range")
	}
	least, most := uint32(4), uint32(40)
	bets, ok := soko.Bets(&soko.View{MinTo: &least, MaxTo: &most})
	if want := (cardarena.Bets{Least: 4, Most: 40}); !ok || bets != want {
		t.Errorf("the range is %d to %d (%t), not 4 to 40", bets.Least, bets.Most, ok)
	}
	for _, row := range []struct {
		why         string
		to, nearest uint32
		may         bool
	}{
		{"less than the least", 3, 4, false},
		{"the least", 4, 4, true},
		{"between", 9, 9, true},
		{"the most", 40, 40, true},
		{"more than the most", 41, 40, false},
	} {
		at, err := bets.At(row.to)
		if (err == nil) != row.may || bets.Has(row.to) != row.may || row.may && at != row.to {
			t.Errorf("%s: a bet to %d is %d (%v)", row.why, row.to, at, err)
		}
		if nearest := bets.Nearest(row.to); nearest != row.nearest {
			t.Errorf("%s: nearest to %d is %d, not %d", row.why, row.to, nearest, row.nearest)
		}
	}
}
