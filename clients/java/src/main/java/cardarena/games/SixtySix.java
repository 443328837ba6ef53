// Generated from proto/ by scripts/proto: do not edit.
package cardarena.games;

import cardarena.Checks;
import cardarena.Families;
import cardarena.Match;
import cardarena.Player;
import cardarena.games.v1.SixtySixEvent;
import cardarena.games.v1.SixtySixMove;
import cardarena.games.v1.SixtySixVerb;
import cardarena.games.v1.SixtySixView;
import java.util.List;
import java.util.function.Function;

/** Sixty Six: constructors of its moves, and a bot with its types. */
public final class SixtySix {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("sixty_six");

  private SixtySix() {}

  /** Plays one match of Sixty Six. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<SixtySixView, SixtySixMove, SixtySixEvent> {}

  /** A player of Sixty Six. The function makes the bot of each match. */
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

    /** The move: say that the own points are 66 or more, which ends the hand. */
    public static SixtySixMove claim() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_CLAIM).build();
    }

    /** The move: close the stock. */
    public static SixtySixMove close() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_CLOSE).build();
    }

    /** The move: take the upcard for the nine of trump. */
    public static SixtySixMove exchange() {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_EXCHANGE).build();
    }

    /** The move: show king and queen of a suit before leading one of them. */
    public static SixtySixMove marriage(String suit) {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_MARRIAGE).setSuit(Checks.suit(suit)).build();
    }

    /** The move: play a card. */
    public static SixtySixMove play(String card) {
      return SixtySixMove.newBuilder().setVerb(SixtySixVerb.SIXTY_SIX_VERB_PLAY).setCard(Checks.card(card)).build();
    }
  }
}
