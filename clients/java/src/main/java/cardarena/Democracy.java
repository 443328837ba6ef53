// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.DemocracyAsk;
import cardarena.games.v1.DemocracyEvent;
import cardarena.games.v1.DemocracyMove;
import cardarena.games.v1.DemocracyVerb;
import cardarena.games.v1.DemocracyView;
import java.util.List;
import java.util.function.Function;

/** Democracy: constructors of its moves, and a bot with its types. */
public final class Democracy {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("democracy");

  private static final Types<DemocracyView, DemocracyMove, DemocracyEvent> TYPES =
      new Types<>(DemocracyView.class, DemocracyMove.class, DemocracyEvent.class);

  private Democracy() {}

  /** Plays one match of Democracy. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<DemocracyView, DemocracyMove, DemocracyEvent> {}

  /** A player of Democracy. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<DemocracyView, DemocracyMove, DemocracyEvent> ask(DemocracyView view, DemocracyMove... moves) {
    DemocracyAsk.Builder body = DemocracyAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setDemocracy(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<DemocracyView, DemocracyMove, DemocracyEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: play a card of the hand. */
    public static DemocracyMove playCard(String card) {
      return DemocracyMove.newBuilder().setVerb(DemocracyVerb.DEMOCRACY_VERB_PLAY_CARD).setCard(Checks.card(card)).build();
    }
  }
}
// spotless:on
