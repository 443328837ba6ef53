import cardarena.Ask;
import cardarena.CardArena;
import cardarena.Cards;
import cardarena.Choice;
import cardarena.Jam;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamSource;
import cardarena.games.v1.JamView;
import java.util.Comparator;
import java.util.List;

/**
 * A bot for Jam: it wins tricks with the lowest card that wins, and keeps high cards for streaks.
 *
 * <p>Each card is played once, so only the order matters. The bot collects high cards: it discards
 * low cards while there is a stock, ends the other seat's streaks before they score, and continues
 * its own.
 */
final class JamBot implements Jam.Bot {
  private static final int TEN = Cards.RANKS.indexOf('T');
  private static final int JACK = Cards.RANKS.indexOf('J');

  /** After this number of tricks, every trick matters. */
  private static final int LATE = 18;

  /** The number of tricks in a row from which a streak matters. */
  private static final int STREAK = 2;

  public static void main(String... flags) {
    CardArena.main(Jam.player("jam", match -> new JamBot()), flags);
  }

  @Override
  public Choice<JamMove> move(Ask<JamView, JamMove, JamEvent> ask) {
    JamView view = ask.view();
    List<JamMove> moves =
        ask.moves().stream()
            .sorted(Comparator.comparingInt(move -> Cards.rank(move.getCard())))
            .toList();
    int seat = ask.match().seat();
    return switch (view.getPhase()) {
      case JAM_PHASE_DRAW -> ask.choose(draw(view, seat, moves));
      case JAM_PHASE_DISCARD -> ask.choose(moves.get(0)); // discard the lowest card
      case JAM_PHASE_FOLLOW -> ask.choose(follow(view, moves));
      default -> lead(ask, moves);
    };
  }

  /** The number of last tricks that the same seat won. */
  private static int streak(List<Integer> winners) {
    int last = winners.size() - 1;
    int at = last;
    while (at >= 0 && winners.get(at).equals(winners.get(last))) {
      at--;
    }
    return last - at;
  }

  private static JamMove draw(JamView view, int seat, List<JamMove> moves) {
    List<String> pile = view.getDiscards(seat).getCardsList();
    boolean high = !pile.isEmpty() && Cards.rank(pile.get(pile.size() - 1)) >= TEN;
    JamSource source = high ? JamSource.JAM_SOURCE_DISCARDS : JamSource.JAM_SOURCE_STOCK;
    return moves.stream()
        .filter(move -> move.getSource() == source)
        .findFirst()
        .orElse(moves.get(0));
  }

  private static JamMove follow(JamView view, List<JamMove> moves) {
    int led = Cards.rank(view.getLed());
    List<Integer> winners = view.getWinnersList();
    // An early trick outside a streak is worth a jack at most.
    boolean matters = streak(winners) >= STREAK || winners.size() >= LATE;
    return moves.stream()
        .filter(move -> Cards.rank(move.getCard()) > led)
        .findFirst()
        .filter(move -> matters || Cards.rank(move.getCard()) <= JACK)
        .orElse(moves.get(0));
  }

  private static Choice<JamMove> lead(Ask<JamView, JamMove, JamEvent> ask, List<JamMove> moves) {
    List<Integer> winners = ask.view().getWinnersList();
    boolean own = !winners.isEmpty() && winners.get(winners.size() - 1) == ask.match().seat();
    if (own && streak(winners) >= STREAK) {
      return ask.choose(moves.get(moves.size() - 1)).withNote("for four or five in a row");
    }
    return ask.choose(moves.get(moves.size() / 2));
  }
}
