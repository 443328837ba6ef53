// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Open Face Chinese Poker: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/open_face_chinese_poker.pb.h"

namespace cardarena::open_face_chinese_poker {

using Layout = games::v1::OpenFaceChinesePokerLayout;
using View = games::v1::OpenFaceChinesePokerView;
using Event = games::v1::OpenFaceChinesePokerEvent;
using Phase = games::v1::OpenFaceChinesePokerPhase;
using EventKind = games::v1::OpenFaceChinesePokerEventKind;

inline constexpr Phase phase_fantasyland = games::v1::OPEN_FACE_CHINESE_POKER_PHASE_FANTASYLAND;
inline constexpr Phase phase_place = games::v1::OPEN_FACE_CHINESE_POKER_PHASE_PLACE;
inline constexpr Phase phase_over = games::v1::OPEN_FACE_CHINESE_POKER_PHASE_OVER;
inline constexpr EventKind event_hand_began = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_HAND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_DEALT;
inline constexpr EventKind event_drawn = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_DRAWN;
inline constexpr EventKind event_placed = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_PLACED;
inline constexpr EventKind event_revealed = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_REVEALED;
inline constexpr EventKind event_scored = games::v1::OPEN_FACE_CHINESE_POKER_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: put cards into rows.
struct Place {
  explicit Place(std::vector<std::string> front, std::vector<std::string> middle, std::vector<std::string> back) : front(checks::card(std::move(front))), middle(checks::card(std::move(middle))), back(checks::card(std::move(back))) {}
  std::vector<std::string> front;
  std::vector<std::string> middle;
  std::vector<std::string> back;
  friend bool operator==(const Place&, const Place&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::OpenFaceChinesePokerMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Place, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::OpenFaceChinesePokerAsk;
  using View = open_face_chinese_poker::View;
  using Event = open_face_chinese_poker::Event;
  using Move = open_face_chinese_poker::Move;
  using MoveMessage = games::v1::OpenFaceChinesePokerMove;
  static constexpr int field = 27;
  static constexpr std::string_view family = "open_face_chinese_poker";
  static Move move(const games::v1::OpenFaceChinesePokerMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::OPEN_FACE_CHINESE_POKER_VERB_PLACE:
          return moves::Place(detail::list<std::string>(message.front()), detail::list<std::string>(message.middle()), detail::list<std::string>(message.back()));
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::OpenFaceChinesePokerMove message(const Move& move) {
    games::v1::OpenFaceChinesePokerMove message;
    if (const auto* given = std::get_if<moves::Place>(&move); given != nullptr) {
      message.set_verb(games::v1::OPEN_FACE_CHINESE_POKER_VERB_PLACE);
      for (const auto& each : given->front) message.add_front(each);
      for (const auto& each : given->middle) message.add_middle(each);
      for (const auto& each : given->back) message.add_back(each);
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

}  // namespace cardarena::open_face_chinese_poker
