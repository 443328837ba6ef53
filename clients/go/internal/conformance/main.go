// Conformance is the client of the conformance kit. clients/conformance/README.md describes its
// fixed bot.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"cardarena.dev/cardarena"
	v1 "cardarena.dev/cardarena/cardarenav1"
)

var sleepMs = flag.Int("sleep-ms", 0, "how long the bot takes for a move, in milliseconds")

type fixedBot struct {
	asked int
}

func newBot(match *cardarena.Match) cardarena.Bot {
	fmt.Println("started", match.Number())
	return &fixedBot{}
}

func (b *fixedBot) Move(_ context.Context, ask *cardarena.Ask) (cardarena.Choice, error) {
	b.asked++
	time.Sleep(time.Duration(*sleepMs) * time.Millisecond)
	if ask.ID()%1000 == 999 {
		return cardarena.Choice{}, errors.New("the fixed bot's mistake")
	}
	note := fmt.Sprint(b.asked) + strings.Repeat("\U0001F0A1", int(ask.ID()/1000))
	if ask.ID()%1000 == 998 {
		seed := ask.Seed()
		note = hex.EncodeToString(seed[:4])
	}
	return cardarena.Index(int(ask.ID() % uint64(ask.MoveCount()))).WithNote(note), nil
}

func (b *fixedBot) Ended(end *cardarena.End) {
	ending := "missed"
	if !end.Missed() {
		ending = strings.ToLower(strings.TrimPrefix(v1.Ending_name[int32(end.Message.GetEnding())], "ENDING_"))
	}
	fmt.Println("ended", end.Match.Number(), ending)
}

func main() {
	cardarena.Main(cardarena.Player{Name: "fixed", Version: "kit", AskForced: true, New: newBot})
}
