package cardarena

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	v1 "cardarena/v1"
)

const (
	// Version is the SDK's.
	Version        = "0.1.0"
	defaultAddress = "localhost:7654"
	defaultAtOnce  = 64
	guest          = "guest:"
)

// Exit codes of Main, the same in every language.
const (
	ExitUnreachable = 1
	ExitRefused     = 2
	ExitLied        = 3
	ExitInterrupted = 130
)

// Options say where to play and as whom. What is empty is taken from the environment, by the
// variable that the field names.
type Options struct {
	// Address is HOST:PORT, https://HOST:PORT or unix:PATH; else CARDARENA_ADDRESS, else localhost:7654.
	Address string
	// Token says who the bot is; else CARDARENA_TOKEN, else guest: and the player's name.
	Token string
	// Receipts is a folder of this bot's own for what it can prove of fair deals; else CARDARENA_RECEIPTS,
	// else nothing is kept.
	Receipts string
	// Once ends when the arena ends its stream in order, and gives up after ten seconds without an
	// arena; also if CARDARENA_ONCE is 1.
	Once bool
	// TLS is used also for an address without https://.
	TLS bool
	// CAFile is PEM of the certificates that sign the arena's; else CARDARENA_CA.
	CAFile string
	// ClientCert and ClientKey are the bot's own, in PEM; else CARDARENA_CLIENT_CERT and _KEY.
	ClientCert, ClientKey string
	// Insecure lets the token go to another machine in plain text.
	Insecure bool
	// Logger is told what the author should know; else slog's default.
	Logger *slog.Logger
}

// Flags adds the flags of all SDKs to a set, and gives the options that they set.
func Flags(set *flag.FlagSet) *Options {
	o := &Options{}
	set.StringVar(&o.Address, "address", "", "the arena: HOST:PORT, https://HOST:PORT or unix:PATH (else $CARDARENA_ADDRESS, else "+defaultAddress+")")
	set.StringVar(&o.Token, "token", "", "who the bot is (else $CARDARENA_TOKEN, which others cannot see, else guest: and the bot's name)")
	set.StringVar(&o.Receipts, "receipts", "", "keep what proves the deals in this `folder` (else $CARDARENA_RECEIPTS)")
	set.BoolVar(&o.TLS, "tls", false, "use TLS, as with https://")
	set.StringVar(&o.CAFile, "ca", "", "the arena's root certificates, a PEM `file` (else $CARDARENA_CA)")
	set.StringVar(&o.ClientCert, "client-cert", "", "the bot's own certificate, a PEM `file`, if the arena wants one")
	set.StringVar(&o.ClientKey, "client-key", "", "its private key, a PEM `file`")
	set.BoolVar(&o.Insecure, "insecure", false, "let the token leave this machine in plain text")
	return o
}

// Main plays as a program: it reads the command line, logs to stderr, and ends with an exit code.
func Main(player Player) {
	options := Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(playAsTold(player, options))
}

// playAsTold plays by the command line, and gives the exit code.
func playAsTold(player Player, options *Options) int {
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s takes no arguments but flags: %s\n", os.Args[0], flag.Arg(0))
		return ExitRefused
	}
	options.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := Play(ctx, player, *options)
	if err != nil && !errors.Is(err, context.Canceled) {
		options.Logger.Error(err.Error())
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var lied *LiedError
	var refused *RefusedError
	var wrong *MisconfiguredError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &lied):
		return ExitLied
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &refused), errors.As(err, &wrong):
		return ExitRefused
	default:
		return ExitUnreachable
	}
}

// Play plays until the arena sends the bot home, or the context ends.
//
// Its errors are RefusedError, UnreachableError, MisconfiguredError, LiedError, and the context's.
func Play(ctx context.Context, player Player, options Options) error {
	o := options
	o.Address = first(o.Address, os.Getenv("CARDARENA_ADDRESS"), defaultAddress)
	o.Receipts = first(o.Receipts, os.Getenv("CARDARENA_RECEIPTS"))
	o.Once = o.Once || os.Getenv("CARDARENA_ONCE") == "1"
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if player.Name == "" {
		player.Name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	hello, err := helloOf(&player, first(o.Token, os.Getenv("CARDARENA_TOKEN"), guest+player.Name))
	if err != nil {
		return err
	}
	dialer, err := newDialer(&o)
	if err != nil {
		return err
	}
	var taken *deals
	if !player.NoEntropy {
		var kept *folder
		if o.Receipts != "" {
			if kept, err = newFolder(o.Receipts); err != nil {
				return misconfigured("receipts cannot be kept in %s: %w", o.Receipts, err)
			}
		}
		taken = newDeals(kept)
	}
	s := newSession(hello, player.AskForced, taken)
	c := &connection{session: s, redial: newRedial(o.Address, o.Once), dialer: dialer, log: o.Logger}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { s.finish(c.run(ctx)) }()
	(&author{session: s, player: &player, log: o.Logger}).play(ctx)
	return s.result(ctx)
}

// result is how play ended: with the lies of the arena if it was caught at any.
func (s *session) result(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.failed
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if s.deals != nil && len(s.deals.lies) > 0 {
		return &LiedError{Lies: slices.Clone(s.deals.lies), Err: err}
	}
	return err
}

func helloOf(player *Player, token string) (*v1.Hello, error) {
	if player.New == nil && player.Batch == nil {
		return nil, misconfigured("%s has neither New nor Batch, which choose its moves", player.Name)
	}
	known := AllGames()
	games := player.Games
	if len(games) == 0 {
		games = known
	}
	hello := &v1.Hello{
		Token: token, Sdk: "cardarena-go/" + Version, WantText: player.WantText, AddsEntropy: !player.NoEntropy,
		Contract: contract, Capabilities: []v1.Capability{v1.Capability_CAPABILITY_REDIRECT},
		MaxMatches: player.MaxMatches, MaxOpenAsks: player.MaxOpenAsks, Version: player.Version,
	}
	if hello.MaxMatches == 0 {
		hello.MaxMatches = defaultAtOnce
	}
	if hello.MaxOpenAsks == 0 {
		hello.MaxOpenAsks = defaultAtOnce
	}
	for _, game := range games {
		if !slices.Contains(known, game) {
			return nil, &RefusedError{Reason: fmt.Sprintf("this version of the SDK knows no game %q: it knows %s", game, strings.Join(known, ", "))}
		}
		hello.Games = append(hello.Games, &v1.GameSupport{Game: game})
	}
	// A secret of this run, so that nobody else takes a guest's seats meanwhile.
	if strings.HasPrefix(token, guest) && strings.Count(token, ":") == 1 {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return nil, err
		}
		hello.Token += ":" + hex.EncodeToString(secret)
	}
	return hello, nil
}
