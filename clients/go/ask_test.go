package cardarena_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cardarena.dev/cardarena"
	v1 "cardarena.dev/cardarena/cardarenav1"
	"cardarena.dev/cardarena/jam"
)

func TestAnAskForTestsTellsWhatAChoiceStandsFor(t *testing.T) {
	offered := []*jam.Move{jam.Moves.Play("2c"), jam.Moves.Play("As")}
	for _, row := range []struct {
		why      string
		choice   jam.Choice
		partial  bool
		card     string
		rejected string
	}{
		{why: "an index", choice: jam.Index(1), card: "As"},
		{why: "an offered move with a note", choice: jam.Choose(jam.Moves.Play("2c")).WithNote("low"), card: "2c"},
		{why: "an index past the list", choice: jam.Index(2), rejected: "move index 2 is out of range: 2 moves are offered"},
		{why: "a move that is not among all legal ones", choice: jam.Choose(jam.Moves.Play("Kd")), rejected: "the move is not legal"},
		{why: "a move that is not offered, of more than are", choice: jam.Choose(jam.Moves.Play("Kd")), partial: true, card: "Kd"},
	} {
		ask := jam.NewAsk(&jam.View{}, offered...)
		ask.Message.GetJam().MovesComplete = !row.partial
		move, err := ask.Chosen(row.choice)
		if row.rejected == "" && (err != nil || move.GetCard() != row.card) {
			t.Errorf("%s: %v, %v", row.why, move, err)
		}
		if row.rejected != "" && (err == nil || !strings.Contains(err.Error(), row.rejected)) {
			t.Errorf("%s: %v, not %q", row.why, err, row.rejected)
		}
	}
}

func TestABotOfAGameAndABotOfAllGamesPlayAnAskForTests(t *testing.T) {
	ask := jam.NewAsk(&jam.View{Phase: jam.PhaseDraw}, jam.Moves.Draw(jam.SourceStock))
	if ask.Match.Game() != "jam" || ask.Match.Seat() != 0 || ask.TimeLeft() < 50*time.Second {
		t.Errorf("game %s, seat %d, %s left", ask.Match.Game(), ask.Match.Seat(), ask.TimeLeft())
	}
	typed := jam.Func(func(_ context.Context, ask *jam.Ask) (jam.Choice, error) { return jam.Choose(ask.Moves[0]), nil })
	if choice, err := typed.Move(t.Context(), ask); err != nil {
		t.Error(err)
	} else if move, err := ask.Chosen(choice); err != nil || move != ask.Moves[0] {
		t.Errorf("%v, %v", move, err)
	}
	untyped := cardarena.NewAsk("jam", &v1.Ask{Game: ask.Message.GetGame(), Clock: &v1.Clock{MoveMs: 1000}})
	if move, err := untyped.Chosen(cardarena.Index(0)); err != nil || move != untyped.MoveAt(0) || untyped.TimeLeft() > time.Second {
		t.Errorf("%v, %v, %s left", move, err, untyped.TimeLeft())
	}
}

func TestAnAskForTestsNeedsAGame(t *testing.T) {
	defer func() {
		if message, _ := recover().(string); !strings.Contains(message, "the ask has no game") {
			t.Errorf("the panic is %q", message)
		}
	}()
	cardarena.NewAsk("jam", &v1.Ask{})
}

func TestAMachineWithoutTheEngineIsToldWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := cardarena.PlayLocal(t.Context(), "jam", []string{"a", "b"})
	if !errors.Is(err, cardarena.ErrNoEngine) || !strings.Contains(err.Error(), "pip install") {
		t.Error(err)
	}
}
