package cardarena;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Opens connections to an arena, and to the addresses of its redirects. A token is sent in plain
 * text only within this machine, unless the author allows more: anyone who reads a token can play
 * as the bot.
 */
final class Dialer {
  private static final String TLS_SCHEME = "https://";
  private static final String PLAIN_TEXT_SCHEME = "http://";
  private static final int PING_INTERVAL_S = 20;
  private static final int PING_TIMEOUT_S = 10;

  /** Twice the size of an arena's largest message. */
  private static final int MAX_RECEIVE_BYTES = 4 << 20;

  private static final Pattern LOOPBACK = Pattern.compile("127(\\.\\d{1,3}){3}|localhost|::1");

  private final boolean tls;
  private final boolean insecure;
  private final ChannelCredentials credentials;

  /**
   * Of the options.
   *
   * @throws PlayException.Misconfigured if the address or a file is wrong
   */
  Dialer(Options options) {
    tls = options.tls() || options.address().startsWith(TLS_SCHEME);
    insecure = options.insecure();
    credentials = tls ? tlsCredentials(options) : InsecureChannelCredentials.create();
    target(options.address());
  }

  /** Opens a connection to the arena's address or to that of a redirect. */
  ManagedChannel dial(String endpoint) {
    return Grpc.newChannelBuilder(target(endpoint), credentials)
        .keepAliveTime(PING_INTERVAL_S, TimeUnit.SECONDS)
        .keepAliveTimeout(PING_TIMEOUT_S, TimeUnit.SECONDS)
        .maxInboundMessageSize(MAX_RECEIVE_BYTES)
        .disableRetry()
        .build();
  }

  /**
   * The gRPC target of an endpoint.
   *
   * @throws PlayException.Misconfigured if the token would be sent unprotected, or the endpoint
   *     needs TLS
   */
  String target(String endpoint) {
    if (endpoint.startsWith(TLS_SCHEME)) {
      if (!tls) {
        throw new PlayException.Misconfigured(
            endpoint + " needs TLS: start the address with " + TLS_SCHEME + ", or add --tls");
      }
      return withoutSlash(endpoint.substring(TLS_SCHEME.length()));
    }
    String target = endpoint;
    if (endpoint.startsWith(PLAIN_TEXT_SCHEME)) {
      if (tls) {
        throw new PlayException.Misconfigured(
            endpoint + " is a plain-text address, but TLS is required");
      }
      target = withoutSlash(endpoint.substring(PLAIN_TEXT_SCHEME.length()));
    }
    if (!tls && !insecure && !isLocal(target)) {
      throw new PlayException.Misconfigured(
          "the token would be sent to "
              + target
              + " in plain text: use "
              + TLS_SCHEME
              + target
              + ", or allow it with --insecure");
    }
    return target;
  }

  /** Whether the address is on this machine. */
  static boolean isLocal(String target) {
    if (target.startsWith("unix:")) {
      return true;
    }
    String host =
        target.equals("::1")
            ? target
            : target.replaceFirst(":\\d+$", "").replaceFirst("^\\[(.*)]$", "$1");
    return LOOPBACK.matcher(host).matches();
  }

  private static String withoutSlash(String target) {
    return target.replaceFirst("/$", "");
  }

  private static ChannelCredentials tlsCredentials(Options options) {
    String ca = options.ca();
    String cert = options.clientCert();
    String key = options.clientKey();
    if (cert.isEmpty() != key.isEmpty()) {
      throw new PlayException.Misconfigured(
          "a client certificate needs its key: give both --client-cert and --client-key");
    }
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    try {
      if (!ca.isEmpty()) {
        builder.trustManager(new ByteArrayInputStream(certificates(ca)));
      }
      if (!cert.isEmpty()) {
        certificates(cert);
        builder.keyManager(Path.of(cert).toFile(), Path.of(key).toFile());
      }
    } catch (IOException error) {
      throw new PlayException.Misconfigured("cannot read " + error.getMessage(), error);
    }
    return builder.build();
  }

  private static byte[] certificates(String file) throws IOException {
    byte[] pem = Files.readAllBytes(Path.of(file));
    try {
      var certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem));
      if (!certificates.isEmpty()) {
        return pem;
      }
    } catch (GeneralSecurityException error) {
      // The same error as without certificates.
    }
    throw new PlayException.Misconfigured(file + " contains no PEM certificates");
  }
}
