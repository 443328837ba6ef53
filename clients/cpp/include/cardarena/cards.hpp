// Parses and sorts cards. A card is a string of two characters, rank and suit, such as "Td". A joker is "Jk".
// Moves, views and events use the same strings.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cardarena::cards {

/// Ranks from low to high, the ace high.
inline constexpr std::string_view ranks = "23456789TJQKA";
/// Suits in canonical order: clubs, diamonds, hearts, spades.
inline constexpr std::string_view suits = "cdhs";
/// The joker, which has no rank and no suit.
inline constexpr std::string_view joker = "Jk";

/// The index of a card's rank in `ranks`, or -1 for a joker.
inline int rank(std::string_view card) {
  return card == joker || card.empty() ? -1
                                       : static_cast<int>(static_cast<std::ptrdiff_t>(ranks.find(card[0])));
}

/// The index of a card's suit in `suits`, or -1 for a joker.
inline int suit(std::string_view card) {
  return card == joker || card.size() < 2
             ? -1
             : static_cast<int>(static_cast<std::ptrdiff_t>(suits.find(card[1])));
}

/// Whether a text is a card.
inline bool is_card(std::string_view text) {
  return text == joker || (text.size() == 2 && rank(text) >= 0 && suit(text) >= 0);
}

/// Parses cards from a text, with or without spaces: "AsKd" or "As Kd". Throws std::invalid_argument.
inline std::vector<std::string> parse(std::string_view text) {
  std::string packed;
  std::copy_if(text.begin(), text.end(), std::back_inserter(packed),
               [](unsigned char each) { return std::isspace(each) == 0; });
  std::vector<std::string> found;
  for (std::size_t at = 0; at < packed.size(); at += 2) {
    std::string card = packed.substr(at, 2);
    if (!is_card(card)) {
      throw std::invalid_argument("\"" + card + "\" is not a card: write rank and suit, such as Td");
    }
    found.push_back(std::move(card));
  }
  return found;
}

/// Orders cards by rank, then suit, with the joker last.
inline bool less(std::string_view one, std::string_view other) {
  const auto key = [](std::string_view card) {
    return card == joker ? static_cast<int>(ranks.size() * suits.size())
                         : rank(card) * static_cast<int>(suits.size()) + suit(card);
  };
  return key(one) < key(other);
}

/// Sorts cards in place.
inline void sort(std::vector<std::string>& cards) {
  std::sort(cards.begin(), cards.end(), [](const auto& one, const auto& other) { return less(one, other); });
}

}  // namespace cardarena::cards

namespace cardarena::checks {

// Arguments of moves. Each throws std::invalid_argument at a value that no move has.

inline std::string card(std::string text) {
  if (!cards::is_card(text)) {
    throw std::invalid_argument("\"" + text + "\" is not a card: write rank and suit, such as Td");
  }
  return text;
}

inline std::optional<std::string> card(std::optional<std::string> text) {
  return text ? std::optional(card(*std::move(text))) : std::nullopt;
}

inline std::vector<std::string> card(std::vector<std::string> texts) {
  for (const auto& text : texts) {
    card(text);
  }
  return texts;
}

inline std::string suit(std::string text) {
  if (text.size() != 1 || cards::suits.find(text[0]) == std::string_view::npos) {
    throw std::invalid_argument("\"" + text + "\" is not a suit: write c, d, h or s");
  }
  return text;
}

template <class Enum>
Enum specified(const char* name, Enum value, bool known) {
  if (!known || static_cast<int>(value) == 0) {
    throw std::invalid_argument(std::string(name) + " has no value " +
                                std::to_string(static_cast<int>(value)));
  }
  return value;
}

template <class Enum>
Enum valid(const char* name, Enum value, bool known) {
  return static_cast<int>(value) == 0 ? value : specified(name, value, known);
}

template <class Enum>
std::vector<Enum> specified(const char* name, std::vector<Enum> values, bool (*known)(int)) {
  for (const auto value : values) {
    specified(name, value, known(static_cast<int>(value)));
  }
  return values;
}

}  // namespace cardarena::checks
