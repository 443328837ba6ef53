// Package cardarena is the SDK for bots of Card Arena.
//
// A bot is a type with one method, Move. Each game has a package with a bot of its own types, such
// as jam. A [Player] of this package can play every game. [Main] is a complete program; [Play] is
// for programs that do more.
//
// The package implements the contract of proto/cardarena/v1/play.proto. It reconnects after a lost
// stream, repeats answers, follows redirects, and takes part in fair deals and checks them. Each
// match has a goroutine, so a bot that searches for a long time does not block the stream. The
// context of a move is canceled when the arena no longer waits for the answer.
package cardarena
