// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.LooAsk;
import cardarena.games.v1.LooEvent;
import cardarena.games.v1.LooMove;
import cardarena.games.v1.LooVerb;
import cardarena.games.v1.LooView;
import java.util.List;
import java.util.function.Function;

/** Loo: constructors of its moves, and a bot with its types. */
public final class Loo {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("loo");

  private static final Types<LooView, LooMove, LooEvent> TYPES =
      new Types<>(LooView.class, LooMove.class, LooEvent.class);

  private Loo() {}

  /** Plays one match of Loo. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<LooView, LooMove, LooEvent> {}

  /** A player of Loo. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<LooView, LooMove, LooEvent> ask(LooView view, LooMove... moves) {
    LooAsk.Builder body = LooAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setLoo(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<LooView, LooMove, LooEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: play the hand. */
    public static LooMove playHand() {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_PLAY_HAND).build();
    }

    /** The move: stay out of the hand. */
    public static LooMove pass() {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_PASS).build();
    }

    /** The move: show a flush, which ends the hand. */
    public static LooMove revealFlush() {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_REVEAL_FLUSH).build();
    }

    /** The move: show nothing. */
    public static LooMove hold() {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_HOLD).build();
    }

    /** The move: exchange cards. */
    public static LooMove exchange(List<String> cards) {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_EXCHANGE).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: play a card. */
    public static LooMove play(String card, boolean civil) {
      return LooMove.newBuilder().setVerb(LooVerb.LOO_VERB_PLAY).setCard(Checks.card(card)).setCivil(civil).build();
    }
  }
}
// spotless:on
