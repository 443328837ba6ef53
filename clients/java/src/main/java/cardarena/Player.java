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
  Function<Match, Bot<Message, Message, Message>> bot;
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

  /** Makes the bot of each match. */
  @SuppressWarnings("unchecked")
  public <V extends Message, M extends Message, E extends Message> Player bot(
      Function<Match, ? extends Bot<V, M, E>> make) {
    Objects.requireNonNull(make, "make");
    // The arena sends messages of the player's games only. Choice checks the moves of the bot.
    bot = match -> (Bot<Message, Message, Message>) (Bot<?, ?, ?>) make.apply(match);
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
