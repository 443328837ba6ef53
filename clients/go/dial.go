package cardarena

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const (
	overTLS   = "https://"
	plainText = "http://"
	// maxReceiveBytes is twice what an arena sends at most.
	maxReceiveBytes = 4 << 20
)

// A dialer opens connections to an arena, and to where it redirects the bot. Who has a token can play
// as the bot, so it is sent in plain text only within one machine, unless the author allows more.
type dialer struct {
	tls      *tls.Config // nil for plain text
	insecure bool
}

func newDialer(o *Options) (*dialer, error) {
	d := &dialer{insecure: o.Insecure}
	files := o.CAFile != "" || o.ClientCert != "" || o.ClientKey != ""
	if o.TLS || files || strings.HasPrefix(o.Address, overTLS) {
		config, err := tlsConfig(
			first(o.CAFile, os.Getenv("CARDARENA_CA")),
			first(o.ClientCert, os.Getenv("CARDARENA_CLIENT_CERT")),
			first(o.ClientKey, os.Getenv("CARDARENA_CLIENT_KEY")),
		)
		if err != nil {
			return nil, err
		}
		d.tls = config
	}
	_, err := d.target(o.Address)
	return d, err
}

// dial opens a connection to the address, or to where the arena has redirected the bot.
func (d *dialer) dial(endpoint string) (*grpc.ClientConn, error) {
	target, err := d.target(endpoint)
	if err != nil {
		return nil, err
	}
	safety := insecure.NewCredentials()
	if d.tls != nil {
		safety = credentials.NewTLS(d.tls.Clone())
	}
	return grpc.NewClient(target,
		grpc.WithTransportCredentials(safety),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
	)
}

// target is what gRPC dials, if that is safe.
func (d *dialer) target(endpoint string) (string, error) {
	if rest, ok := strings.CutPrefix(endpoint, overTLS); ok {
		if d.tls == nil {
			return "", misconfigured("%s needs TLS: give the address with %s, or --tls", endpoint, overTLS)
		}
		return strings.TrimSuffix(rest, "/"), nil
	}
	if rest, ok := strings.CutPrefix(endpoint, plainText); ok {
		if d.tls != nil {
			return "", misconfigured("%s is plain text, where TLS was asked for", endpoint)
		}
		endpoint = strings.TrimSuffix(rest, "/")
	}
	if d.tls == nil && !d.insecure && !isLocal(endpoint) {
		return "", misconfigured("the token would go to %s in plain text, for all on the way to read: use %s%s, or say --insecure", endpoint, overTLS, endpoint)
	}
	return endpoint, nil
}

// isLocal says whether what is sent there stays on this machine.
func isLocal(endpoint string) bool {
	if strings.HasPrefix(endpoint, "unix:") {
		return true
	}
	host, port, err := net.SplitHostPort(endpoint)
	if _, number := strconv.Atoi(port); err != nil || number != nil {
		host = strings.Trim(endpoint, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func tlsConfig(ca, cert, key string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, misconfigured("cannot read %s: %w", ca, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, misconfigured("%s holds no certificates in PEM", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, misconfigured("a client's certificate and its key go together: give both")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, misconfigured("%s and %s are no certificate in PEM with its key: %w", cert, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
