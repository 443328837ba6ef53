// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Chinese Poker: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/chinese_poker.pb.h"

namespace cardarena::chinese_poker {

using View = games::v1::ChinesePokerView;
using Rows = games::v1::ChinesePokerRows;
using ShownNatural = games::v1::ChinesePokerShownNatural;
using Event = games::v1::ChinesePokerEvent;
using Phase = games::v1::ChinesePokerPhase;
using Natural = games::v1::ChinesePokerNatural;
using EventKind = games::v1::ChinesePokerEventKind;

inline constexpr Phase phase_set = games::v1::CHINESE_POKER_PHASE_SET;
inline constexpr Phase phase_surrender = games::v1::CHINESE_POKER_PHASE_SURRENDER;
inline constexpr Phase phase_over = games::v1::CHINESE_POKER_PHASE_OVER;
inline constexpr Natural natural_six_pair = games::v1::CHINESE_POKER_NATURAL_SIX_PAIR;
inline constexpr Natural natural_three_straights = games::v1::CHINESE_POKER_NATURAL_THREE_STRAIGHTS;
inline constexpr Natural natural_three_flushes = games::v1::CHINESE_POKER_NATURAL_THREE_FLUSHES;
inline constexpr Natural natural_dragon = games::v1::CHINESE_POKER_NATURAL_DRAGON;
inline constexpr EventKind event_hand_began = games::v1::CHINESE_POKER_EVENT_KIND_HAND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::CHINESE_POKER_EVENT_KIND_DEALT;
inline constexpr EventKind event_natural_declared = games::v1::CHINESE_POKER_EVENT_KIND_NATURAL_DECLARED;
inline constexpr EventKind event_surrendered = games::v1::CHINESE_POKER_EVENT_KIND_SURRENDERED;
inline constexpr EventKind event_revealed = games::v1::CHINESE_POKER_EVENT_KIND_REVEALED;
inline constexpr EventKind event_scored = games::v1::CHINESE_POKER_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: set the cards.
struct Set {
  explicit Set(std::vector<std::string> front, std::vector<std::string> middle, std::vector<std::string> back) : front(checks::card(std::move(front))), middle(checks::card(std::move(middle))), back(checks::card(std::move(back))) {}
  std::vector<std::string> front;
  std::vector<std::string> middle;
  std::vector<std::string> back;
  friend bool operator==(const Set&, const Set&) = default;
};

/// The move: show the highest natural of the hand instead.
struct DeclareNatural {
  friend bool operator==(const DeclareNatural&, const DeclareNatural&) = default;
};

/// The move: stand by the setting.
struct Play {
  friend bool operator==(const Play&, const Play&) = default;
};

/// The move: give up for two units to each opponent without a natural.
struct Surrender {
  friend bool operator==(const Surrender&, const Surrender&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::ChinesePokerMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Set, moves::DeclareNatural, moves::Play, moves::Surrender, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::ChinesePokerAsk;
  using View = chinese_poker::View;
  using Event = chinese_poker::Event;
  using Move = chinese_poker::Move;
  using MoveMessage = games::v1::ChinesePokerMove;
  static constexpr int field = 18;
  static constexpr std::string_view family = "chinese_poker";
  static Move move(const games::v1::ChinesePokerMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::CHINESE_POKER_VERB_SET:
          return moves::Set(detail::list<std::string>(message.front()), detail::list<std::string>(message.middle()), detail::list<std::string>(message.back()));
        case games::v1::CHINESE_POKER_VERB_DECLARE_NATURAL:
          return moves::DeclareNatural{};
        case games::v1::CHINESE_POKER_VERB_PLAY:
          return moves::Play{};
        case games::v1::CHINESE_POKER_VERB_SURRENDER:
          return moves::Surrender{};
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::ChinesePokerMove message(const Move& move) {
    games::v1::ChinesePokerMove message;
    if (const auto* given = std::get_if<moves::Set>(&move); given != nullptr) {
      message.set_verb(games::v1::CHINESE_POKER_VERB_SET);
      for (const auto& each : given->front) message.add_front(each);
      for (const auto& each : given->middle) message.add_middle(each);
      for (const auto& each : given->back) message.add_back(each);
    }
    if (std::get_if<moves::DeclareNatural>(&move) != nullptr) {
      message.set_verb(games::v1::CHINESE_POKER_VERB_DECLARE_NATURAL);
    }
    if (std::get_if<moves::Play>(&move) != nullptr) {
      message.set_verb(games::v1::CHINESE_POKER_VERB_PLAY);
    }
    if (std::get_if<moves::Surrender>(&move) != nullptr) {
      message.set_verb(games::v1::CHINESE_POKER_VERB_SURRENDER);
    }
    if (const auto* given = std::get_if<moves::Other>(&move); given != nullptr) message = given->message;
    return message;
  }
};

using Ask = TypedAsk<Game>;
using Choice = TypedChoice<Game>;
using Bot = TypedBot<Game>;

/// Chooses an offered move by its index, from 0.
inline Choice index(std::size_t index) { return Choice::index(index); }
/// Chooses a move, offered or not.
inline Choice choose(const Move& move) { return Choice::move(move); }
/// An ask for the test of a bot: of seat 0, with a minute of time. The moves are all legal moves.
inline Ask ask(View view, const std::vector<Move>& moves) {
  return detail::ask_for_test<Game>(std::move(view), moves);
}
/// A player of the family. `bot` is a function of the ask, as `Choice(Ask&)`, or makes the bot of each match, as
/// `std::unique_ptr<Bot>(const Match&)`.
template <class F>
Player player(std::string name, F bot) {
  return detail::typed_player<Game>(std::move(name), std::move(bot));
}

}  // namespace cardarena::chinese_poker
