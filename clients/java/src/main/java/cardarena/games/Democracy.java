// Generated from proto/ by scripts/proto: do not edit.
package cardarena.games;

import cardarena.Checks;
import cardarena.Families;
import cardarena.Match;
import cardarena.Player;
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

  private Democracy() {}

  /** Plays one match of Democracy. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<DemocracyView, DemocracyMove, DemocracyEvent> {}

  /** A player of Democracy. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(bot);
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
