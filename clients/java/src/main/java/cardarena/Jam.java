// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.JamAsk;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamSource;
import cardarena.games.v1.JamVerb;
import cardarena.games.v1.JamView;
import java.util.List;
import java.util.function.Function;

/** Jam: constructors of its moves, and a bot with its types. */
public final class Jam {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("jam");

  private static final Types<JamView, JamMove, JamEvent> TYPES =
      new Types<>(JamView.class, JamMove.class, JamEvent.class);

  private Jam() {}

  /** Plays one match of Jam. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<JamView, JamMove, JamEvent> {}

  /** A player of Jam. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<JamView, JamMove, JamEvent> ask(JamView view, JamMove... moves) {
    JamAsk.Builder body = JamAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setJam(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<JamView, JamMove, JamEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: play a card to the trick. */
    public static JamMove play(String card) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_PLAY).setCard(Checks.card(card)).build();
    }

    /** The move: draw a card. */
    public static JamMove draw(JamSource source) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_DRAW).setSource(Checks.specified("source", source)).build();
    }

    /** The move: put a card on the own discard pile. */
    public static JamMove discard(String card) {
      return JamMove.newBuilder().setVerb(JamVerb.JAM_VERB_DISCARD).setCard(Checks.card(card)).build();
    }
  }
}
// spotless:on
