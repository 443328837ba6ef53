import cardarena.Ask;
import cardarena.CardArena;
import cardarena.Cards;
import cardarena.Choice;
import cardarena.games.Jam;
import cardarena.games.v1.JamEvent;
import cardarena.games.v1.JamMove;
import cardarena.games.v1.JamSource;
import cardarena.games.v1.JamView;
import java.util.Comparator;
import java.util.List;

/**
 * Plays Jam: it wins tricks as cheaply as it can, and saves its strength for streaks.
 *
 * <p>Every card is played once in the end, so what counts is when. The bot keeps its high cards
 * together: it puts low cards back while there is a stock, breaks the other seat's streaks before
 * they are worth something, and goes on with its own.
 */
final class JamBot implements Jam.Bot {
  private static final int TEN = Cards.RANKS.indexOf('T');
  private static final int JACK = Cards.RANKS.indexOf('J');

  /** Tricks after which every one matters. */
  private static final int LATE = 18;

  /** Tricks in a row from which a streak is worth something. */
  private static final int STREAK = 2;

  public static void main(String... flags) {
    CardArena.main(Jam.player("jam", match -> new JamBot()), flags);
  }

  @Override
  public Choice move(Ask<JamView, JamMove, JamEvent> ask) {
    JamView view = ask.view();
    List<JamMove> moves =
        ask.moves().stream()
            .sorted(Comparator.comparingInt(move -> Cards.rank(move.getCard())))
            .toList();
    int seat = ask.match().seat();
    return switch (view.getPhase()) {
      case JAM_PHASE_DRAW -> Choice.move(draw(view, seat, moves));
      case JAM_PHASE_DISCARD -> Choice.move(moves.get(0)); // low cards can be played later
      case JAM_PHASE_FOLLOW -> Choice.move(follow(view, moves));
      default -> lead(view, seat, moves);
    };
  }

  /** How many of the last tricks the same seat has won. */
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
    // An early trick that belongs to no streak is worth a middling card at most.
    boolean matters = streak(winners) >= STREAK || winners.size() >= LATE;
    return moves.stream()
        .filter(move -> Cards.rank(move.getCard()) > led)
        .findFirst()
        .filter(move -> matters || Cards.rank(move.getCard()) <= JACK)
        .orElse(moves.get(0));
  }

  private static Choice lead(JamView view, int seat, List<JamMove> moves) {
    List<Integer> winners = view.getWinnersList();
    if (streak(winners) >= STREAK && winners.get(winners.size() - 1) == seat) {
      return Choice.move(moves.get(moves.size() - 1)).withNote("for four or five in a row");
    }
    return Choice.move(moves.get(moves.size() / 2));
  }
}
