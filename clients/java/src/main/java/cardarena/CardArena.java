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
 * Writes bots for Card Arena.
 *
 * <p>A bot is a class with one method, {@link Bot#move}. Each game has a class in {@code
 * cardarena.games} with a bot of its own types; a {@link Player} may play every game. {@link #main}
 * is the whole program, {@link #play} is for programs that have more to do.
 */
public final class CardArena {
  /** The SDK's. */
  public static final String VERSION = "0.1.0";

  /** Exit codes of {@link #main}, the same in every language. */
  public static final int EXIT_UNREACHABLE = 1;

  public static final int EXIT_REFUSED = 2;
  public static final int EXIT_LIED = 3;

  private static final String GUEST = "guest:";
  private static final int SECRET_BYTES = 16;
  private static final SecureRandom CHANCE = new SecureRandom();
  private static final System.Logger LOG = System.getLogger("cardarena");

  private CardArena() {}

  /** Plays as a program: it reads the flags, logs to stderr, and ends with an exit code. */
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
   * Plays until the arena sends the bot home. It blocks; a virtual thread will do.
   *
   * @throws PlayException if it ended otherwise, or the arena was caught at lies
   * @throws InterruptedException if its thread was interrupted, which ends play
   */
  public static void play(Player player, Options options) throws InterruptedException {
    String said = options.token();
    Hello hello = hello(player, said.isEmpty() ? GUEST + player.name : said);
    Dialer dialer = new Dialer(options);
    Deals deals = player.addsEntropy ? new Deals(receipts(options), CardArena::drawn) : null;
    Author author = new Author(player, options.threads());
    Session session = new Session(hello, player.askForced, deals, author::accept);
    author.join(session);
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
    author.finish();
    List<String> lies = session.lies();
    if (!lies.isEmpty()) {
      throw new PlayException.Lied(String.join("\n", lies), failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private static Receipts receipts(Options options) {
    String folder = options.receipts();
    try {
      return folder.isEmpty() ? null : new Receipts(Path.of(folder));
    } catch (IOException error) {
      throw new PlayException.Misconfigured(
          "receipts cannot be kept in " + folder + ": " + error.getMessage(), error);
    }
  }

  private static ByteString drawn() {
    return random(Hashes.HASH_BYTES);
  }

  private static ByteString random(int size) {
    byte[] bytes = new byte[size];
    CHANCE.nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }

  static Hello hello(Player player, String token) {
    if (player.bot == null && player.batch == null) {
      throw new PlayException.Misconfigured(
          player.name + " has neither bot nor batch, to choose its moves");
    }
    List<String> known = Families.allGames();
    for (String game : player.games) {
      if (!known.contains(game)) {
        throw new PlayException.Refused(
            "this version of the SDK knows no game " + game + ": it knows " + known);
      }
    }
    // A secret of this run, so that nobody else takes a guest's seats meanwhile.
    boolean bare = token.startsWith(GUEST) && token.indexOf(':', GUEST.length()) < 0;
    return Hello.newBuilder()
        .setToken(bare ? token + ":" + Hashes.hex(random(SECRET_BYTES)) : token)
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
