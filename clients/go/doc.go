// Package cardarena writes bots for Card Arena.
//
// A bot is a type with one method, Move. Each game has a package with a bot of its
// own types, as jam; a [Player] of this package plays every game. [Main] is the whole
// program, [Play] is for programs that have more to do.
//
// The package keeps the contract of proto/cardarena/v1/play.proto: it comes back when a
// stream is lost, says no answer twice differently, follows redirects, and takes part in
// fair deals and checks them. A bot never holds up its stream: each match has a goroutine
// of its own, and the context of a move ends when its answer is no longer wanted.
package cardarena
