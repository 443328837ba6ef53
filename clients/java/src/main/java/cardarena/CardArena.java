package cardarena;

import cardarena.v1.Capability;
import cardarena.v1.GameSupport;
import cardarena.v1.Hello;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The functions that play.
 *
 * <p>A bot is a class with one method, {@link Bot#move}. Each game has a class in {@code
 * cardarena.games} with a bot of its types; a {@link Player} can play every game. {@link #main} is
 * a complete program; {@link #play} is for programs that do more.
 */
public final class CardArena {
  /** The version of this SDK. */
  public static final String VERSION = "1.0.0-rc1";

  /** Exit codes of {@link #main}. All SDKs use the same codes. */
  public static final int EXIT_UNREACHABLE = 1;

  public static final int EXIT_REFUSED = 2;
  public static final int EXIT_LIED = 3;

  private static final String GUEST = "guest:";
  private static final int SUFFIX_BYTES = 16;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final System.Logger LOG = System.getLogger("cardarena");

  private CardArena() {}

  /** Plays as a program: it parses the flags, logs to stderr, and exits with an exit code. */
  public static void main(Player player, String... flags) {
    int code = 0;
    try {
      Options options = Options.ofFlags(flags);
      if (options.help()) {
        System.out.println(Options.HELP);
      } else {
        play(player, options);
      }
    } catch (PlayException error) {
      LOG.log(System.Logger.Level.ERROR, error.getMessage());
      code = exitCode(error);
    } catch (InterruptedException error) {
      code = EXIT_UNREACHABLE;
    }
    System.exit(code);
  }

  static int exitCode(PlayException error) {
    if (error instanceof PlayException.Lied) {
      return EXIT_LIED;
    }
    return error instanceof PlayException.Unreachable ? EXIT_UNREACHABLE : EXIT_REFUSED;
  }

  /**
   * Plays until the arena ends play. It blocks; the thread may be virtual.
   *
   * @throws PlayException if play ended with an error, or the arena lied about its deals
   * @throws InterruptedException if the thread was interrupted, which ends play
   */
  public static void play(Player player, Options options) throws InterruptedException {
    String token = options.token();
    Hello hello = hello(player, token.isEmpty() ? GUEST + player.name : token);
    Dialer dialer = new Dialer(options);
    Deals deals = player.addsEntropy ? new Deals(receipts(options), CardArena::entropy) : null;
    BotRunner runner = new BotRunner(player, options.threads());
    Session session = new Session(hello, player.askForced, deals, runner::accept);
    runner.start(session);
    Redial redial =
        new Redial(
            options.address(),
            options.once(),
            System::nanoTime,
            () -> ThreadLocalRandom.current().nextDouble());
    PlayException failure = null;
    try {
      new Connection(session, redial, dialer).run();
    } catch (PlayException error) {
      failure = error;
    }
    session.finish();
    runner.finish();
    List<String> lies = session.lies();
    if (!lies.isEmpty()) {
      throw new PlayException.Lied(String.join("\n", lies), failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static ReceiptFolder receipts(Options options) {
    String folder = options.receipts();
    try {
      return folder.isEmpty() ? null : new ReceiptFolder(Path.of(folder));
    } catch (IOException error) {
      throw new PlayException.Misconfigured(
          "cannot store receipts in " + folder + ": " + error.getMessage(), error);
    }
  }

  private static ByteString entropy() {
    return random(Hashes.HASH_BYTES);
  }

  private static ByteString random(int size) {
    byte[] bytes = new byte[size];
    RANDOM.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  static Hello hello(Player player, String token) {
    if (player.bot == null && player.batch == null) {
      throw new PlayException.Misconfigured(
          "the player " + player.name + " has no bot: set bot or batch");
    }
    List<String> supported = Families.allGames();
    for (String game : player.games) {
      if (!supported.contains(game)) {
        throw new PlayException.Refused(
            "this version of the SDK does not support the game "
                + game
                + ": it supports "
                + String.join(", ", supported));
      }
    }
    // A random suffix, so that another guest of the same name cannot take over the matches.
    boolean needsSuffix = token.startsWith(GUEST) && token.indexOf(':', GUEST.length()) < 0;
    return Hello.newBuilder()
        .setToken(needsSuffix ? token + ":" + Hashes.hex(random(SUFFIX_BYTES)) : token)
        .setSdk("cardarena-java/" + VERSION)
        .addAllGames(
            player.games.stream()
                .map(game -> GameSupport.newBuilder().setGame(game).build())
                .toList())
        .setMaxMatches(player.maxMatches)
        .setMaxOpenAsks(player.maxOpenAsks)
        .setWantText(player.wantText)
        .setContract(Session.CONTRACT)
        .addCapabilities(Capability.CAPABILITY_REDIRECT)
        .setAddsEntropy(player.addsEntropy)
        .setVersion(player.version)
        .build();
  }
}
