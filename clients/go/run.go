package cardarena

import (
	"cmp"
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

	v1 "cardarena.dev/cardarena/cardarenav1"
	"google.golang.org/protobuf/proto"
)

const (
	// Version is the version of this SDK.
	Version            = "1.0.0-rc1"
	defaultAddress     = "localhost:7654"
	defaultConcurrency = 64
	guest              = "guest:"
)

// Exit codes of Main. All SDKs use the same codes.
const (
	ExitUnreachable = 1
	ExitRefused     = 2
	ExitLied        = 3
	ExitInterrupted = 130
)

// Options say where to play, and as whom. An empty field is read from the environment variable that
// its comment names.
type Options struct {
	// Address is HOST:PORT, https://HOST:PORT or unix:PATH. Default: CARDARENA_ADDRESS or
	// localhost:7654.
	Address string
	// Token is the bot's token. Default: CARDARENA_TOKEN or guest:NAME, with the player's name.
	Token string
	// Receipts is the folder where receipts of fair deals are stored, one folder for each bot.
	// Default: CARDARENA_RECEIPTS; without it no receipts are stored.
	Receipts string
	// Once stops when the arena closes the stream in order, and after ten seconds without a
	// connection. Also set by CARDARENA_ONCE=1.
	Once bool
	// TLS uses TLS also for an address without https://.
	TLS bool
	// CAFile has the root certificates for the arena's certificate, PEM. Default: CARDARENA_CA.
	CAFile string
	// ClientCert and ClientKey are the files of the bot's certificate and its key, PEM. Default:
	// CARDARENA_CLIENT_CERT and CARDARENA_CLIENT_KEY.
	ClientCert, ClientKey string
	// Insecure allows sending the token to another machine in plain text.
	Insecure bool
	// Logger receives the log. Default: the default logger of slog.
	Logger *slog.Logger
}

// Flags adds the flags that all SDKs have to a flag set, and returns the options that they fill.
func Flags(set *flag.FlagSet) *Options {
	o := &Options{}
	set.StringVar(&o.Address, "address", "", "address of the arena: HOST:PORT, https://HOST:PORT or unix:PATH (default: $CARDARENA_ADDRESS or "+defaultAddress+")")
	set.StringVar(&o.Token, "token", "", "the bot's token (default: $CARDARENA_TOKEN or guest:NAME; other users of this machine can see a token on the command line)")
	set.StringVar(&o.Receipts, "receipts", "", "store receipts of fair deals in this `folder`, one for each bot (default: $CARDARENA_RECEIPTS)")
	set.BoolVar(&o.TLS, "tls", false, "use TLS, as with an https:// address")
	set.StringVar(&o.CAFile, "ca", "", "root certificates for the arena's certificate, a PEM `file` (default: $CARDARENA_CA)")
	set.StringVar(&o.ClientCert, "client-cert", "", "the bot's certificate, a PEM `file`, if the arena requires one (default: $CARDARENA_CLIENT_CERT)")
	set.StringVar(&o.ClientKey, "client-key", "", "the private key of that certificate, a PEM `file` (default: $CARDARENA_CLIENT_KEY)")
	set.BoolVar(&o.Insecure, "insecure", false, "allow sending the token to another machine in plain text")
	return o
}

// Main plays as a program: it parses the command line, logs to stderr, and exits with an exit code.
func Main(player Player) {
	options := Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(runProgram(player, options))
}

// runProgram plays by the parsed command line, and returns the exit code.
func runProgram(player Player, options *Options) int {
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unexpected argument %q: it takes only flags\n", os.Args[0], flag.Arg(0))
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

// Play plays until the arena ends play, or the context is done.
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
	var fairDeals *deals
	if !player.NoEntropy {
		var receipts *receiptFolder
		if o.Receipts != "" {
			if receipts, err = newReceiptFolder(o.Receipts); err != nil {
				return misconfigured("cannot store receipts in %s: %w", o.Receipts, err)
			}
		}
		fairDeals = newDeals(receipts)
	}
	s := newSession(hello, player.AskForced, fairDeals)
	c := &connection{session: s, redial: newRedial(o.Address, o.Once), dialer: dialer, log: o.Logger}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { s.finish(c.run(ctx)) }()
	(&botRunner{session: s, player: &player, log: o.Logger}).play(ctx)
	return s.result(ctx)
}

// result is how play ended. If the arena lied, it is a LiedError.
func (s *session) result(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.playErr
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
		return nil, misconfigured("the player %s has no bot: set New or Batch", player.Name)
	}
	known := AllGames()
	games := player.Games
	if len(games) == 0 {
		games = known
	}
	hello := &v1.Hello{
		Token: token, Sdk: "cardarena-go/" + Version, WantText: player.WantText, AddsEntropy: !player.NoEntropy,
		Contract: contract, Capabilities: []v1.Capability{v1.Capability_CAPABILITY_REDIRECT},
		MaxMatches:  proto.Uint32(cmp.Or(player.MaxMatches, defaultConcurrency)),
		MaxOpenAsks: cmp.Or(player.MaxOpenAsks, defaultConcurrency), Version: player.Version,
	}
	for _, game := range games {
		if !slices.Contains(known, game) {
			return nil, &RefusedError{Reason: fmt.Sprintf("this version of the SDK does not support the game %q: it supports %s", game, strings.Join(known, ", "))}
		}
		hello.Games = append(hello.Games, &v1.GameSupport{Game: game})
	}
	// A random suffix, so that another guest of the same name cannot take over the matches.
	if strings.HasPrefix(token, guest) && strings.Count(token, ":") == 1 {
		suffix := make([]byte, 16)
		if _, err := rand.Read(suffix); err != nil {
			return nil, err
		}
		hello.Token += ":" + hex.EncodeToString(suffix)
	}
	return hello, nil
}
