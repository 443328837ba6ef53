package cardarena;

import com.google.protobuf.ProtocolMessageEnum;
import java.util.List;

/** What the constructors of moves look at, so that no move is malformed. */
public final class Checks {
  private Checks() {}

  /** The card, if it is one. */
  public static String card(String card) {
    if (card == null || !Cards.isCard(card)) {
      throw new IllegalArgumentException(
          "\"" + card + "\" is no card: rank and suit are wanted, as Td");
    }
    return card;
  }

  /** The cards, if all of them are such. */
  public static List<String> cards(List<String> cards) {
    cards.forEach(Checks::card);
    return cards;
  }

  /** The suit's letter, if it is one. */
  public static String suit(String suit) {
    if (suit == null || suit.length() != 1 || !Cards.SUITS.contains(suit)) {
      throw new IllegalArgumentException("\"" + suit + "\" is no suit: c, d, h or s is wanted");
    }
    return suit;
  }

  /** The number, if the arena can be told it. */
  public static int whole(String name, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(
          name + " is " + value + ": a whole number from 0 is wanted");
    }
    return value;
  }

  /** The value of its enum, if it is one and says something. */
  public static <E extends Enum<E> & ProtocolMessageEnum> E named(String name, E value) {
    if (value == null || value.name().equals("UNRECOGNIZED") || value.getNumber() == 0) {
      throw new IllegalArgumentException(name + " is " + value + ", and must be named");
    }
    return value;
  }
}
