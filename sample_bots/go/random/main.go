// Random plays every game: it picks one of the offered moves at random.
package main

import (
	"context"

	"cardarena.dev/cardarena"
)

func move(_ context.Context, ask *cardarena.Ask) (cardarena.Choice, error) {
	return cardarena.Index(ask.Random().IntN(ask.MoveCount())), nil
}

func main() {
	cardarena.Main(cardarena.Player{
		Name: "random",
		New:  func(*cardarena.Match) cardarena.Bot { return cardarena.Func(move) },
	})
}
