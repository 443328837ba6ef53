package cardarena;

import com.google.protobuf.ProtocolMessageEnum;
import java.util.List;

/** Checks of the arguments of moves' constructors. */
final class Checks {
  private Checks() {}

  /** Returns the card, or throws an IllegalArgumentException if the text is not one. */
  static String card(String card) {
    if (card == null || !Cards.isCard(card)) {
      throw new IllegalArgumentException(Cards.notACard(card));
    }
    return card;
  }

  /** Returns the cards, or throws an IllegalArgumentException if one of the texts is not a card. */
  static List<String> cards(List<String> cards) {
    cards.forEach(Checks::card);
    return cards;
  }

  /** Returns the suit's letter, or throws an IllegalArgumentException if the text is not one. */
  static String suit(String suit) {
    if (suit == null || suit.length() != 1 || !Cards.SUITS.contains(suit)) {
      throw new IllegalArgumentException("\"" + suit + "\" is not a suit: write c, d, h or s");
    }
    return suit;
  }

  /** Returns the number, or throws an IllegalArgumentException if it is negative. */
  static int wholeNumber(String name, int value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " is " + value + ": write a whole number from 0");
    }
    return value;
  }

  /**
   * Returns the value of an enum, or throws an IllegalArgumentException if it is unspecified or
   * unknown.
   */
  static <E extends Enum<E> & ProtocolMessageEnum> E specified(String name, E value) {
    if (value == null || value.name().equals("UNRECOGNIZED") || value.getNumber() == 0) {
      throw new IllegalArgumentException(name + " is " + value + ": it must not be unspecified");
    }
    return value;
  }
}
