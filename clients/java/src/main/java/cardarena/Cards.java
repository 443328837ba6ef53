package cardarena;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Parses and sorts cards.
 *
 * <p>A card is a string of two characters, rank and suit, such as {@code Td}. A joker is {@code
 * Jk}. Moves, views and events use the same strings.
 */
public final class Cards {
  /** Ranks from low to high, the ace high. */
  public static final String RANKS = "23456789TJQKA";

  /** Suits in canonical order: clubs, diamonds, hearts, spades. */
  public static final String SUITS = "cdhs";

  /** The joker, which has no rank and no suit. */
  public static final String JOKER = "Jk";

  /** Orders cards by rank, then suit, with the joker last. */
  public static final Comparator<String> ORDER = Comparator.comparingInt(Cards::sortKey);

  private Cards() {}

  /**
   * Parses cards from a text, with or without spaces: {@code AsKd} or {@code As Kd}.
   *
   * @throws IllegalArgumentException if a part of the text is not a card
   */
  public static List<String> parse(String text) {
    String bare = text.replaceAll("\\s", "");
    List<String> found = new ArrayList<>();
    for (int at = 0; at < bare.length(); at += 2) {
      String card = bare.substring(at, Math.min(at + 2, bare.length()));
      if (!isCard(card)) {
        throw new IllegalArgumentException(notACard(card));
      }
      found.add(card);
    }
    return found;
  }

  static String notACard(String text) {
    return "\"" + text + "\" is not a card: write rank and suit, such as Td";
  }

  /** Whether a text is a card. */
  public static boolean isCard(String text) {
    return text.equals(JOKER) || text.length() == 2 && rank(text) >= 0 && suit(text) >= 0;
  }

  /** The index of a card's rank in RANKS; -1 for a joker. */
  public static int rank(String card) {
    return card.equals(JOKER) || card.isEmpty() ? -1 : RANKS.indexOf(card.charAt(0));
  }

  /** The index of a card's suit in SUITS; -1 for a joker. */
  public static int suit(String card) {
    return card.equals(JOKER) || card.length() < 2 ? -1 : SUITS.indexOf(card.charAt(1));
  }

  /** The cards, sorted by {@link #ORDER}. */
  public static List<String> sorted(List<String> cards) {
    return cards.stream().sorted(ORDER).toList();
  }

  /** The cards of a suit, which is one of the letters of SUITS. */
  public static List<String> ofSuit(List<String> cards, char suit) {
    return cards.stream().filter(card -> !card.equals(JOKER) && card.charAt(1) == suit).toList();
  }

  private static int sortKey(String card) {
    return card.equals(JOKER)
        ? RANKS.length() * SUITS.length()
        : rank(card) * SUITS.length() + suit(card);
  }
}
