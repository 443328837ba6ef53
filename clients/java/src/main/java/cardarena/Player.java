package cardarena;

import com.google.protobuf.Message;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** What a bot says of itself when it connects, and how its matches are played. */
public final class Player {
  private static final int AT_ONCE = 64;

  final String name;
  String version = "";
  List<String> games = Families.allGames();
  int maxMatches = AT_ONCE;
  int maxOpenAsks = AT_ONCE;
  boolean askForced;
  boolean wantText;
  boolean addsEntropy = true;
  Function<Match, Bot<Message, Message, Message>> bot;
  BatchBot batch;

  private Player(String name) {
    this.name = name;
  }

  /** A player of that name, which a guest says, and logs have. It plays all games. */
  public static Player named(String name) {
    return new Player(Objects.requireNonNull(name, "name"));
  }

  /** Which version of itself it is, in your own words; an arena notes it of remote bots. */
  public Player version(String own) {
    version = Objects.requireNonNull(own, "own");
    return this;
  }

  /** The games that it plays, by id. */
  public Player games(List<String> ids) {
    games = List.copyOf(ids);
    return this;
  }

  /** Makes the bot of each match. */
  @SuppressWarnings("unchecked")
  public <V extends Message, M extends Message, E extends Message> Player bot(
      Function<Match, ? extends Bot<V, M, E>> made) {
    Objects.requireNonNull(made, "made");
    // The arena asks with messages of the games that the player named; others are found by Choice.
    bot = match -> (Bot<Message, Message, Message>) (Bot<?, ?, ?>) made.apply(match);
    return this;
  }

  /** Plays all matches, instead of a bot for each. */
  public Player batch(BatchBot all) {
    batch = Objects.requireNonNull(all, "all");
    return this;
  }

  /** What it takes at a time; 64 of each if nothing is said. */
  public Player atOnce(int matches, int openAsks) {
    maxMatches = matches;
    maxOpenAsks = openAsks;
    return this;
  }

  /** Gives the bot also asks with a single legal move, which else are answered at once. */
  public Player askForced() {
    askForced = true;
    return this;
  }

  /** Asks for moves and events in notation as well. */
  public Player wantText() {
    wantText = true;
    return this;
  }

  /** Leaves fair deals alone. To take part costs nothing to speak of. */
  public Player withoutEntropy() {
    addsEntropy = false;
    return this;
  }
}
