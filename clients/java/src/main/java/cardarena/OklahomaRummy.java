// Generated from proto/ by scripts/proto: do not edit.
// spotless:off
package cardarena;

import cardarena.games.v1.OklahomaRummyAsk;
import cardarena.games.v1.OklahomaRummyEnd;
import cardarena.games.v1.OklahomaRummyEvent;
import cardarena.games.v1.OklahomaRummyMeldKind;
import cardarena.games.v1.OklahomaRummyMove;
import cardarena.games.v1.OklahomaRummyVerb;
import cardarena.games.v1.OklahomaRummyView;
import java.util.List;
import java.util.function.Function;

/** Oklahoma Rummy: constructors of its moves, and a bot with its types. */
public final class OklahomaRummy {
  /** The ids of the family's games. */
  public static final List<String> GAMES = Families.games("oklahoma_rummy");

  private static final Types<OklahomaRummyView, OklahomaRummyMove, OklahomaRummyEvent> TYPES =
      new Types<>(OklahomaRummyView.class, OklahomaRummyMove.class, OklahomaRummyEvent.class);

  private OklahomaRummy() {}

  /** Plays one match of Oklahoma Rummy. */
  @FunctionalInterface
  public interface Bot extends cardarena.Bot<OklahomaRummyView, OklahomaRummyMove, OklahomaRummyEvent> {}

  /** A player of Oklahoma Rummy. The function makes the bot of each match. */
  public static Player player(String name, Function<Match, Bot> bot) {
    return Player.named(name).games(GAMES).bot(TYPES, bot);
  }

  /**
   * An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
   */
  public static Ask<OklahomaRummyView, OklahomaRummyMove, OklahomaRummyEvent> ask(OklahomaRummyView view, OklahomaRummyMove... moves) {
    OklahomaRummyAsk.Builder body = OklahomaRummyAsk.newBuilder().setView(view).setMovesComplete(true);
    body.addAllMoves(List.of(moves));
    return Ask.of(GAMES.get(0), cardarena.v1.Ask.newBuilder().setOklahomaRummy(body), TYPES);
  }

  /** An ask for the test of a bot, as if the message arrived now. */
  public static Ask<OklahomaRummyView, OklahomaRummyMove, OklahomaRummyEvent> ask(Match match, cardarena.v1.Ask message) {
    return Ask.of(match, message, TYPES);
  }

  /**
   * Constructors of moves. Each takes exactly the fields that its verb uses, and throws an
   * IllegalArgumentException if an argument is not a card, a suit, a number from 0 or a value of its
   * enum. They do not check whether the move is legal.
   */
  public static final class Moves {
    private Moves() {}

    /** The move: draw a card from the stock. */
    public static OklahomaRummyMove draw() {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_DRAW).build();
    }

    /** The move: meld the top discard and two cards of the hand, and take the rest of the pile. */
    public static OklahomaRummyMove takePile(OklahomaRummyMeldKind kind, List<String> cards) {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_TAKE_PILE).setKind(Checks.specified("kind", kind)).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: leave the pile where nothing can be drawn, which ends the hand. */
    public static OklahomaRummyMove decline() {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_DECLINE).build();
    }

    /** The move: put down a meld. */
    public static OklahomaRummyMove meld(OklahomaRummyMeldKind kind, List<String> cards) {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_MELD).setKind(Checks.specified("kind", kind)).addAllCards(Checks.cards(cards)).build();
    }

    /** The move: add a card of the hand to a meld of one's own. */
    public static OklahomaRummyMove extend(int index, String card) {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_EXTEND).setIndex(Checks.wholeNumber("index", index)).setCard(Checks.card(card)).build();
    }

    /** The move: add a card of the hand to a meld of one's own. */
    public static OklahomaRummyMove extend(int index, String card, OklahomaRummyEnd end) {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_EXTEND).setIndex(Checks.wholeNumber("index", index)).setCard(Checks.card(card)).setEnd(Checks.specified("end", end)).build();
    }

    /** The move: end the turn with a discard. */
    public static OklahomaRummyMove discard(String card) {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_DISCARD).setCard(Checks.card(card)).build();
    }

    /** The move: end the turn with nothing but queens of spades in hand. */
    public static OklahomaRummyMove noDiscard() {
      return OklahomaRummyMove.newBuilder().setVerb(OklahomaRummyVerb.OKLAHOMA_RUMMY_VERB_NO_DISCARD).build();
    }
  }
}
// spotless:on
