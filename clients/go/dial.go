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
	tlsScheme       = "https://"
	plainTextScheme = "http://"
	// maxReceiveBytes is twice the size of an arena's largest message.
	maxReceiveBytes = 4 << 20
)

// A dialer opens connections to an arena, and to the addresses of its redirects. A token is sent in
// plain text only within this machine, unless the author allows more: anyone who reads a token can
// play as the bot.
type dialer struct {
	tls      *tls.Config // nil for plain text
	insecure bool
}

func newDialer(o *Options) (*dialer, error) {
	d := &dialer{insecure: o.Insecure}
	files := o.CAFile != "" || o.ClientCert != "" || o.ClientKey != ""
	if o.TLS || files || strings.HasPrefix(o.Address, tlsScheme) {
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

// dial opens a connection to the arena's address or to that of a redirect.
func (d *dialer) dial(endpoint string) (*grpc.ClientConn, error) {
	target, err := d.target(endpoint)
	if err != nil {
		return nil, err
	}
	credential := insecure.NewCredentials()
	if d.tls != nil {
		credential = credentials.NewTLS(d.tls.Clone())
	}
	return grpc.NewClient(target,
		grpc.WithTransportCredentials(credential),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReceiveBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
	)
}

// target is the gRPC target of an endpoint. It is an error if the token would be sent unprotected,
// or if the endpoint needs TLS and there is none.
func (d *dialer) target(endpoint string) (string, error) {
	if rest, ok := strings.CutPrefix(endpoint, tlsScheme); ok {
		if d.tls == nil {
			return "", misconfigured("%s needs TLS: start the address with %s, or add --tls", endpoint, tlsScheme)
		}
		return strings.TrimSuffix(rest, "/"), nil
	}
	if rest, ok := strings.CutPrefix(endpoint, plainTextScheme); ok {
		if d.tls != nil {
			return "", misconfigured("%s is a plain-text address, but TLS is required", endpoint)
		}
		endpoint = strings.TrimSuffix(rest, "/")
	}
	if d.tls == nil && !d.insecure && !isLocal(endpoint) {
		return "", misconfigured("the token would be sent to %s in plain text: use %s%s, or allow it with --insecure", endpoint, tlsScheme, endpoint)
	}
	return endpoint, nil
}

// isLocal reports whether an endpoint is on this machine.
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
			return nil, misconfigured("%s contains no PEM certificates", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, misconfigured("a client certificate needs its key: give both --client-cert and --client-key")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, misconfigured("%s and %s are not a PEM certificate with its key: %w", cert, key, err)
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
