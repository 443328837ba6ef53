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
 * Opens connections to an arena, and to where it redirects the bot. Who has a token can play as the
 * bot, so it is sent in plain text only within one machine, unless the author allows more.
 */
final class Dialer {
  private static final String OVER_TLS = "https://";
  private static final String PLAIN_TEXT = "http://";
  private static final int PING_S = 20;
  private static final int PONG_S = 10;

  /** Twice what an arena sends at most. */
  private static final int MAX_RECEIVE_BYTES = 4 << 20;

  private static final Pattern LOOPBACK = Pattern.compile("127(\\.\\d{1,3}){3}|localhost|::1");

  private final boolean tls;
  private final boolean insecure;
  private final ChannelCredentials credentials;

  /** Of what the options say. */
  Dialer(Options options) {
    tls = options.tls() || options.address().startsWith(OVER_TLS);
    insecure = options.insecure();
    credentials = tls ? overTls(options) : InsecureChannelCredentials.create();
    target(options.address());
  }

  /** Opens a connection to the address, or to where the arena has redirected the bot. */
  ManagedChannel dial(String endpoint) {
    return Grpc.newChannelBuilder(target(endpoint), credentials)
        .keepAliveTime(PING_S, TimeUnit.SECONDS)
        .keepAliveTimeout(PONG_S, TimeUnit.SECONDS)
        .maxInboundMessageSize(MAX_RECEIVE_BYTES)
        .disableRetry()
        .build();
  }

  /** What gRPC dials, if that is safe. */
  String target(String endpoint) {
    if (endpoint.startsWith(OVER_TLS)) {
      if (!tls) {
        throw new PlayException.Misconfigured(
            endpoint + " needs TLS: give the address with " + OVER_TLS + ", or --tls");
      }
      return withoutSlash(endpoint.substring(OVER_TLS.length()));
    }
    String target = endpoint;
    if (endpoint.startsWith(PLAIN_TEXT)) {
      if (tls) {
        throw new PlayException.Misconfigured(endpoint + " is plain text, where TLS was asked for");
      }
      target = withoutSlash(endpoint.substring(PLAIN_TEXT.length()));
    }
    if (!tls && !insecure && !isLocal(target)) {
      throw new PlayException.Misconfigured(
          "the token would go to "
              + target
              + " in plain text, for all on the way to read: use "
              + OVER_TLS
              + target
              + ", or say --insecure");
    }
    return target;
  }

  /** Whether what is sent there stays on this machine. */
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

  private static ChannelCredentials overTls(Options options) {
    String ca = options.ca();
    String cert = options.clientCert();
    String key = options.clientKey();
    if (cert.isEmpty() != key.isEmpty()) {
      throw new PlayException.Misconfigured(
          "a client's certificate and its key go together: give both");
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
      var found =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem));
      if (!found.isEmpty()) {
        return pem;
      }
    } catch (GeneralSecurityException error) {
      // It is told as one that holds none.
    }
    throw new PlayException.Misconfigured(file + " holds no certificates in PEM");
  }
}
