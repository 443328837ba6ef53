// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.ArlingtonAsk;
import cardarena.games.v1.ArlingtonEvent;
import cardarena.games.v1.ArlingtonMove;
import cardarena.games.v1.ArlingtonSpectrum;
import cardarena.games.v1.ArlingtonVerb;
import cardarena.games.v1.ArlingtonView;
import java.util.List;
import java.util.function.Function;

/** Arlington: constructors of its moves, and a bot with its types. */
public final class Arlington {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("arlington");

  private static final Types<ArlingtonView, ArlingtonMove, ArlingtonEvent> TYPES =
      new Types<>(ArlingtonView.class, ArlingtonMove.class, ArlingtonEvent.class);

  private Arlington() {}

  /** Plays one match of Arlington. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<ArlingtonView, ArlingtonMove, ArlingtonEvent> {}

  /** A player of Arlington. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<ArlingtonView, ArlingtonMove, ArlingtonEvent> ask(ArlingtonView view, ArlingtonMove... moves) {
    ArlingtonAsk.Builder body = ArlingtonAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setArlington(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<ArlingtonView, ArlingtonMove, ArlingtonEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: lead a card to a trick. */
    public static ArlingtonMove leadCard(String card) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_LEAD_CARD).setCard(Checks.card(card)).build();
    }

    /** The move: lead a set. */
    public static ArlingtonMove leadSet(List<String> cards) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_LEAD_SET).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: lead a set. */
    public static ArlingtonMove leadSet(List<String> cards, ArlingtonSpectrum spectrum) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_LEAD_SET).addAllCards(Checks.cards(cards)).setSpectrum(Checks.specified("spectrum", spectrum)).build();
    }

    /** The move: bury a set on a table, the two of spades with it. */
    public static ArlingtonMove playS2(int seat, int index) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_PLAY_S2).setSeat(Checks.wholeNumber("seat", seat)).setIndex(Checks.wholeNumber("index", index)).build();
    }

    /** The move: add a card of the hand to a set on a table. */
    public static ArlingtonMove add(int seat, int index, String card) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_ADD).setSeat(Checks.wholeNumber("seat", seat)).setIndex(Checks.wholeNumber("index", index)).setCard(Checks.card(card)).build();
    }

    /** The move: take a joker of a set on a table for a suit card. */
    public static ArlingtonMove takeJoker(int seat, int index, String card) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_TAKE_JOKER).setSeat(Checks.wholeNumber("seat", seat)).setIndex(Checks.wholeNumber("index", index)).setCard(Checks.card(card)).build();
    }

    /** The move: play a card to the trick. */
    public static ArlingtonMove playCard(String card) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_PLAY_CARD).setCard(Checks.card(card)).build();
    }

    /** The move: let the active set be. */
    public static ArlingtonMove pass() {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_PASS).build();
    }

    /** The move: beat the active set with a higher one. */
    public static ArlingtonMove overplay(List<String> cards) {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_OVERPLAY).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: bury the active set with the two of spades and take the lead. */
    public static ArlingtonMove kill() {
      return ArlingtonMove.newBuilder().setVerb(ArlingtonVerb.ARLINGTON_VERB_KILL).build();
    }
  }
}
// spotless:on
