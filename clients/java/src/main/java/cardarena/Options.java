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
 * Where to play, and as whom. An option that is not set is read from the environment variable that
 * {@link #HELP} names.
 */
public final class Options {
  /** The help text for the flags. */
  public static final String HELP =
      """
      Plays at an arena until the arena ends play.

        --address ADDRESS    HOST:PORT, https://HOST:PORT or unix:PATH (default: $CARDARENA_ADDRESS or localhost:7654)
        --token TOKEN        the bot's token (default: $CARDARENA_TOKEN or guest:NAME; other users of this machine can
                             see a token on the command line)
        --receipts FOLDER    store receipts of fair deals in this folder, one for each bot (default: $CARDARENA_RECEIPTS)
        --tls                use TLS, as with an https:// address
        --ca FILE            root certificates for the arena's certificate, PEM (default: $CARDARENA_CA)
        --client-cert FILE   the bot's certificate, PEM, if the arena requires one (default: $CARDARENA_CLIENT_CERT)
        --client-key FILE    the private key of that certificate, PEM (default: $CARDARENA_CLIENT_KEY)
        --insecure           allow sending the token to another machine in plain text

      Exit codes: 0 the arena ended play, 1 the arena is unreachable, 2 the arena refused the bot or an option is wrong,
      3 the arena lied about its deals.""";

  private static final Set<String> VALUES =
      Set.of("--address", "--token", "--receipts", "--ca", "--client-cert", "--client-key");
  private static final Set<String> SWITCHES = Set.of("--tls", "--insecure", "--help", "-h");
  private static final String DEFAULT_ADDRESS = "localhost:7654";

  private final Map<String, String> values = new HashMap<>();
  private final Map<String, String> environment;
  private ThreadFactory threads = Options::daemon;

  private Options(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Options of which all are read from the environment. */
  public static Options ofEnvironment() {
    return new Options(System.getenv());
  }

  /**
   * The options of a command line.
   *
   * @throws PlayException.Misconfigured if there is an unknown flag, or a value is missing
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
        options.values.put(flag, "1");
      } else if (VALUES.contains(flag) && (parts.length > 1 || !left.isEmpty())) {
        options.values.put(flag, parts.length > 1 ? parts[1] : left.remove(0));
      } else {
        String why = VALUES.contains(flag) ? flag + " needs a value" : "unknown flag " + flag;
        throw new PlayException.Misconfigured(why);
      }
    }
    return options;
  }

  /**
   * The address of the arena: {@code HOST:PORT}, {@code https://HOST:PORT} or {@code unix:PATH}.
   */
  public Options address(String address) {
    return with("--address", address);
  }

  /** The bot's token. */
  public Options token(String token) {
    return with("--token", token);
  }

  /** Stores receipts of fair deals in a folder. Each bot needs a folder of its own. */
  public Options receipts(Path folder) {
    return with("--receipts", folder.toString());
  }

  /** Uses TLS, as with an {@code https://} address. */
  public Options withTls() {
    return with("--tls", "1");
  }

  /** Uses TLS with root certificates for the arena's certificate, a PEM file. */
  public Options withTls(Path rootCertificates) {
    return with("--ca", rootCertificates.toString());
  }

  /** The bot's certificate and its private key, PEM files, if the arena requires one. */
  public Options clientCertificate(Path certificate, Path key) {
    return with("--client-cert", certificate.toString()).with("--client-key", key.toString());
  }

  /** Allows sending the token to another machine in plain text. */
  public Options insecurely() {
    return with("--insecure", "1");
  }

  private Options with(String flag, String value) {
    values.put(flag, Objects.requireNonNull(value, flag));
    return this;
  }

  /**
   * The factory for the threads of matches, such as {@code Thread.ofVirtual().factory()} of Java
   * 21. Default: daemon threads of the platform.
   */
  public Options threads(ThreadFactory factory) {
    threads = Objects.requireNonNull(factory, "factory");
    return this;
  }

  ThreadFactory threads() {
    return threads;
  }

  boolean help() {
    return values.containsKey("--help") || values.containsKey("-h");
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
        .anyMatch(values::containsKey);
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
    return values.containsKey("--insecure");
  }

  private String value(String flag, String variable) {
    String own = values.getOrDefault(flag, "");
    return own.isEmpty() ? environment.getOrDefault(variable, "") : own;
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "cardarena-match");
    thread.setDaemon(true);
    return thread;
  }
}
