package cardarena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// ErrNoEngine reports that this machine has no engine.
var ErrNoEngine = errors.New(`the command "arena" of the engine is not in PATH: pip install 'cardarena-engine[server]'`)

// A LocalMatch is the result of a match that the engine played on this machine.
type LocalMatch struct {
	// Ending is completed, forfeit or aborted.
	Ending string `json:"ending"`
	// Scores are the points by seat, in the game's unit.
	Scores []int `json:"scores"`
	// Faults are those of all seats, in the order in which they happened.
	Faults []LocalFault `json:"faults"`
	// Replay is the path of the match's replay.
	Replay string `json:"replay"`
}

// A LocalFault is a fault of a seat.
type LocalFault struct {
	// Seat is counted from 0.
	Seat int `json:"seat"`
	// Kind is the kind of fault, such as illegal, in the engine's words.
	Kind string `json:"kind"`
	// Reason says what was wrong.
	Reason string `json:"reason"`
}

// PlayLocal plays a match between programs of this machine, without a server: it runs `arena play` of the
// engine as a child process. The bots are commands, by seat, such as ./mybot; the engine starts them in the
// working directory. Flags are those of `arena play --help`, such as "--seed", "7".
//
// The error is ErrNoEngine if the engine is not installed, and otherwise has what the engine said.
func PlayLocal(ctx context.Context, game string, bots []string, flags ...string) (*LocalMatch, error) {
	program, err := exec.LookPath("arena")
	if err != nil {
		return nil, ErrNoEngine
	}
	arguments := append([]string{"play", game}, bots...)
	arguments = append(append(arguments, "--json"), flags...)
	out, err := exec.CommandContext(ctx, program, arguments...).Output()
	match := &LocalMatch{}
	if json.Unmarshal(out, match) == nil {
		return match, nil // also if a bot failed, which the exit code tells
	}
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("the engine could not play: %s", strings.TrimSpace(string(failed.Stderr)))
	}
	return nil, fmt.Errorf("the engine could not play: %w", err)
}
