package cardarena;

import com.google.protobuf.Message;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Describes a bot to the arena, and how its matches are played. */
public final class Player {
  private static final int DEFAULT_MAX_MATCHES = 64;
  private static final int DEFAULT_MAX_OPEN_ASKS = 64;

  final String name;
  String version = "";
  List<String> games = Families.allGames();
  int maxMatches = DEFAULT_MAX_MATCHES;
  int maxOpenAsks = DEFAULT_MAX_OPEN_ASKS;
  boolean askForced;
  boolean wantText;
  boolean addsEntropy = true;
  Function<Match, TypedBot<?, ?, ?>> bot;
  BatchBot batch;

  private Player(String name) {
    this.name = name;
  }

  /** A player that plays all games. A bot without a token plays as a guest of this name. */
  public static Player named(String name) {
    return new Player(Objects.requireNonNull(name, "name"));
  }

  /** The bot's version, in any format. The arena records it for bots that connect from outside. */
  public Player version(String text) {
    version = Objects.requireNonNull(text, "text");
    return this;
  }

  /** The ids of the games that the bot plays. Default: all games that this SDK supports. */
  public Player games(List<String> ids) {
    games = List.copyOf(ids);
    return this;
  }

  /**
   * Makes the bot of each match, which plays every game. The class of a game has a player of its.
   */
  public Player bot(Function<Match, ? extends Bot<Message, Message, Message>> make) {
    return bot(Types.ANY, make);
  }

  /** Makes the bot of each match, which gets asks of the types. */
  <V extends Message, M extends Message, E extends Message> Player bot(
      Types<V, M, E> types, Function<Match, ? extends Bot<V, M, E>> make) {
    Objects.requireNonNull(make, "make");
    bot = match -> new TypedBot<>(types, Objects.requireNonNull(make.apply(match), "no bot"));
    return this;
  }

  /** Plays all matches with one bot, instead of a bot for each. */
  public Player batch(BatchBot batchBot) {
    batch = Objects.requireNonNull(batchBot, "batchBot");
    return this;
  }

  /** The maximum number of matches at a time. Default: 64. */
  public Player maxMatches(int matches) {
    maxMatches = matches;
    return this;
  }

  /** The maximum number of asks that may be open at a time. Default: 64. */
  public Player maxOpenAsks(int asks) {
    maxOpenAsks = asks;
    return this;
  }

  /** Calls the bot also if there is only one legal move. By default the SDK answers these asks. */
  public Player askForced() {
    askForced = true;
    return this;
  }

  /** Requests moves and events in notation as well. */
  public Player wantText() {
    wantText = true;
    return this;
  }

  /** Takes no part in fair deals: the bot adds no entropy and checks no deals. */
  public Player withoutEntropy() {
    addsEntropy = false;
    return this;
  }
}
