// Written by scripts/generate_java.py. Not to be edited: scripts/proto.
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

/** Democracy: constructors of its moves, and a bot of its types. */
public final class Democracy {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("democracy");

  private Democracy() {}

  /** Plays one match of Democracy. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<DemocracyView, DemocracyMove, DemocracyEvent> {}

  /** A player of Democracy, of what makes a bot for each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(bot);
  }

  /**
   * Makes moves that are whole: each with the fields that its verb uses, and no others. What is no
   * card, no suit, less than nothing or no value of its enum is an IllegalArgumentException. Whether
   * a move is legal now, the rules say.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: play a card of the hand. */
    public static DemocracyMove playCard(String card) {
      return DemocracyMove.newBuilder().setVerb(DemocracyVerb.DEMOCRACY_VERB_PLAY_CARD).setCard(Checks.card(card)).build();
    }
  }
}
