// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Abstrac: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/abstrac.pb.h"

namespace cardarena::abstrac {

using View = games::v1::AbstracView;
using Event = games::v1::AbstracEvent;
using Phase = games::v1::AbstracPhase;
using Order = games::v1::AbstracOrder;
using EventKind = games::v1::AbstracEventKind;

inline constexpr Phase phase_choose = games::v1::ABSTRAC_PHASE_CHOOSE;
inline constexpr Phase phase_take = games::v1::ABSTRAC_PHASE_TAKE;
inline constexpr Phase phase_over = games::v1::ABSTRAC_PHASE_OVER;
inline constexpr Order order_first = games::v1::ABSTRAC_ORDER_FIRST;
inline constexpr Order order_second = games::v1::ABSTRAC_ORDER_SECOND;
inline constexpr EventKind event_dealt = games::v1::ABSTRAC_EVENT_KIND_DEALT;
inline constexpr EventKind event_chosen = games::v1::ABSTRAC_EVENT_KIND_CHOSEN;
inline constexpr EventKind event_taken = games::v1::ABSTRAC_EVENT_KIND_TAKEN;
inline constexpr EventKind event_scored = games::v1::ABSTRAC_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: say who takes first.
struct Choose {
  explicit Choose(Order order) : order(checks::specified("order", order, games::v1::AbstracOrder_IsValid(order))) {}
  Order order;
  friend bool operator==(const Choose&, const Choose&) = default;
};

/// The move: take cards from the top.
struct Take {
  explicit Take(std::uint32_t count) : count(count) {}
  std::uint32_t count;
  friend bool operator==(const Take&, const Take&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::AbstracMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Choose, moves::Take, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::AbstracAsk;
  using View = abstrac::View;
  using Event = abstrac::Event;
  using Move = abstrac::Move;
  using MoveMessage = games::v1::AbstracMove;
  static constexpr int field = 16;
  static constexpr std::string_view family = "abstrac";
  static Move move(const games::v1::AbstracMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::ABSTRAC_VERB_CHOOSE:
          return moves::Choose(message.order());
        case games::v1::ABSTRAC_VERB_TAKE:
          return moves::Take(message.count());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::AbstracMove message(const Move& move) {
    games::v1::AbstracMove message;
    if (const auto* given = std::get_if<moves::Choose>(&move); given != nullptr) {
      message.set_verb(games::v1::ABSTRAC_VERB_CHOOSE);
      message.set_order(given->order);
    }
    if (const auto* given = std::get_if<moves::Take>(&move); given != nullptr) {
      message.set_verb(games::v1::ABSTRAC_VERB_TAKE);
      message.set_count(given->count);
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

}  // namespace cardarena::abstrac
