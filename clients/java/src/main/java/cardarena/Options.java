package cardarena;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadFactory;

/**
 * Where to play and as whom. What is not said is taken from the environment, by the variables that
 * the flags name in {@link #HELP}.
 */
public final class Options {
  /** What the flags do, those of all SDKs. */
  public static final String HELP =
      """
      Plays at an arena until that sends the bot home.

        --address ADDRESS    HOST:PORT, https://HOST:PORT or unix:PATH (else $CARDARENA_ADDRESS, else localhost:7654)
        --token TOKEN        who the bot is (else $CARDARENA_TOKEN, which others cannot see, else guest: and the bot's name)
        --receipts FOLDER    keep what proves the deals in this folder (else $CARDARENA_RECEIPTS)
        --tls                use TLS, as with https://
        --ca FILE            the arena's root certificates, PEM (else $CARDARENA_CA)
        --client-cert FILE   the bot's own certificate, PEM, if the arena wants one (else $CARDARENA_CLIENT_CERT)
        --client-key FILE    its private key, PEM (else $CARDARENA_CLIENT_KEY)
        --insecure           let the token leave this machine in plain text

      Exit codes: 0 sent home, 1 no arena, 2 refused, 3 lied to.""";

  private static final Set<String> VALUES =
      Set.of("--address", "--token", "--receipts", "--ca", "--client-cert", "--client-key");
  private static final Set<String> SWITCHES = Set.of("--tls", "--insecure", "--help", "-h");
  private static final String DEFAULT_ADDRESS = "localhost:7654";

  private final Map<String, String> said = new HashMap<>();
  private final Map<String, String> environment;
  private ThreadFactory threads = Options::daemon;

  private Options(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Nothing said: all is taken from the environment of this process. */
  public static Options ofEnvironment() {
    return new Options(System.getenv());
  }

  /**
   * What a command line says.
   *
   * @throws PlayException.Misconfigured if it says what no flag is
   */
  public static Options ofFlags(String... arguments) {
    return of(System.getenv(), arguments);
  }

  static Options of(Map<String, String> environment, String... arguments) {
    Options options = new Options(environment);
    List<String> left = new ArrayList<>(List.of(arguments));
    while (!left.isEmpty()) {
      String[] parts = left.remove(0).split("=", 2);
      String flag = parts[0];
      if (SWITCHES.contains(flag) && parts.length == 1) {
        options.said.put(flag, "1");
      } else if (VALUES.contains(flag) && (parts.length > 1 || !left.isEmpty())) {
        options.said.put(flag, parts.length > 1 ? parts[1] : left.remove(0));
      } else {
        String why = VALUES.contains(flag) ? flag + " needs a value" : "there is no flag " + flag;
        throw new PlayException.Misconfigured(why);
      }
    }
    return options;
  }

  /** Where the arena is: {@code HOST:PORT}, {@code https://HOST:PORT} or {@code unix:PATH}. */
  public Options address(String address) {
    return saying("--address", address);
  }

  /** Who the bot is. */
  public Options token(String token) {
    return saying("--token", token);
  }

  /** Keeps what proves the deals in this folder. */
  public Options receipts(Path folder) {
    return saying("--receipts", folder.toString());
  }

  /** Uses TLS, as with {@code https://}. */
  public Options withTls() {
    return saying("--tls", "1");
  }

  /** Uses TLS, and trusts an arena by these root certificates, a PEM file. */
  public Options withTls(Path rootCertificates) {
    return saying("--ca", rootCertificates.toString());
  }

  /** The bot's own certificate and its private key, PEM files, if the arena wants one. */
  public Options clientCertificate(Path certificate, Path key) {
    return saying("--client-cert", certificate.toString()).saying("--client-key", key.toString());
  }

  /** Lets the token leave this machine in plain text. */
  public Options insecurely() {
    return saying("--insecure", "1");
  }

  private Options saying(String flag, String value) {
    said.put(flag, Objects.requireNonNull(value, flag));
    return this;
  }

  /**
   * Makes the threads of matches, as {@code Thread.ofVirtual().factory()} of Java 21; daemons of
   * the platform if nothing is said.
   */
  public Options threads(ThreadFactory factory) {
    threads = Objects.requireNonNull(factory, "factory");
    return this;
  }

  ThreadFactory threads() {
    return threads;
  }

  boolean help() {
    return said.containsKey("--help") || said.containsKey("-h");
  }

  String address() {
    String address = value("--address", "CARDARENA_ADDRESS");
    return address.isEmpty() ? DEFAULT_ADDRESS : address;
  }

  String token() {
    return value("--token", "CARDARENA_TOKEN");
  }

  String receipts() {
    return value("--receipts", "CARDARENA_RECEIPTS");
  }

  boolean once() {
    return "1".equals(environment.get("CARDARENA_ONCE"));
  }

  boolean tls() {
    return List.of("--tls", "--ca", "--client-cert", "--client-key").stream()
        .anyMatch(said::containsKey);
  }

  String ca() {
    return value("--ca", "CARDARENA_CA");
  }

  String clientCert() {
    return value("--client-cert", "CARDARENA_CLIENT_CERT");
  }

  String clientKey() {
    return value("--client-key", "CARDARENA_CLIENT_KEY");
  }

  boolean insecure() {
    return said.containsKey("--insecure");
  }

  private String value(String flag, String variable) {
    String own = said.getOrDefault(flag, "");
    return own.isEmpty() ? environment.getOrDefault(variable, "") : own;
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "cardarena-match");
    thread.setDaemon(true);
    return thread;
  }
}
