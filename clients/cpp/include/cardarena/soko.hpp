// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Soko: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/soko.pb.h"

namespace cardarena::soko {

using View = games::v1::SokoView;
using Chips = games::v1::SokoChips;
using Line = games::v1::SokoLine;
using Event = games::v1::SokoEvent;
using Phase = games::v1::SokoPhase;
using Action = games::v1::SokoAction;
using EventKind = games::v1::SokoEventKind;

inline constexpr Phase phase_bring_in = games::v1::SOKO_PHASE_BRING_IN;
inline constexpr Phase phase_bet = games::v1::SOKO_PHASE_BET;
inline constexpr Phase phase_over = games::v1::SOKO_PHASE_OVER;
inline constexpr Action action_fold = games::v1::SOKO_ACTION_FOLD;
inline constexpr Action action_check = games::v1::SOKO_ACTION_CHECK;
inline constexpr Action action_call = games::v1::SOKO_ACTION_CALL;
inline constexpr Action action_bet = games::v1::SOKO_ACTION_BET;
inline constexpr Action action_raise = games::v1::SOKO_ACTION_RAISE;
inline constexpr EventKind event_hand_began = games::v1::SOKO_EVENT_KIND_HAND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::SOKO_EVENT_KIND_DEALT;
inline constexpr EventKind event_upcards_dealt = games::v1::SOKO_EVENT_KIND_UPCARDS_DEALT;
inline constexpr EventKind event_brought_in = games::v1::SOKO_EVENT_KIND_BROUGHT_IN;
inline constexpr EventKind event_acted = games::v1::SOKO_EVENT_KIND_ACTED;
inline constexpr EventKind event_uncalled_returned = games::v1::SOKO_EVENT_KIND_UNCALLED_RETURNED;
inline constexpr EventKind event_shown = games::v1::SOKO_EVENT_KIND_SHOWN;
inline constexpr EventKind event_pot_won = games::v1::SOKO_EVENT_KIND_POT_WON;
inline constexpr EventKind event_hand_ended = games::v1::SOKO_EVENT_KIND_HAND_ENDED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: open the first round.
struct BringIn {
  explicit BringIn(std::uint32_t to) : to(to) {}
  std::uint32_t to;
  friend bool operator==(const BringIn&, const BringIn&) = default;
};

/// The move: give up the hand. Not allowed where checking is free.
struct Fold {
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// The move: add nothing, as there is nothing to call.
struct Check {
  friend bool operator==(const Check&, const Check&) = default;
};

/// The move: match the bet, or go all-in below it.
struct Call {
  friend bool operator==(const Call&, const Call&) = default;
};

/// The move: be the first to put chips in.
struct Bet {
  explicit Bet(std::uint32_t to) : to(to) {}
  std::uint32_t to;
  friend bool operator==(const Bet&, const Bet&) = default;
};

/// The move: go beyond what is to be matched.
struct Raise {
  explicit Raise(std::uint32_t to) : to(to) {}
  std::uint32_t to;
  friend bool operator==(const Raise&, const Raise&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::SokoMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::BringIn, moves::Fold, moves::Check, moves::Call, moves::Bet, moves::Raise, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::SokoAsk;
  using View = soko::View;
  using Event = soko::Event;
  using Move = soko::Move;
  using MoveMessage = games::v1::SokoMove;
  static constexpr int field = 25;
  static constexpr std::string_view family = "soko";
  static Move move(const games::v1::SokoMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::SOKO_VERB_BRING_IN:
          return moves::BringIn(message.to());
        case games::v1::SOKO_VERB_FOLD:
          return moves::Fold{};
        case games::v1::SOKO_VERB_CHECK:
          return moves::Check{};
        case games::v1::SOKO_VERB_CALL:
          return moves::Call{};
        case games::v1::SOKO_VERB_BET:
          return moves::Bet(message.to());
        case games::v1::SOKO_VERB_RAISE:
          return moves::Raise(message.to());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::SokoMove message(const Move& move) {
    games::v1::SokoMove message;
    if (const auto* given = std::get_if<moves::BringIn>(&move); given != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_BRING_IN);
      message.set_to(given->to);
    }
    if (std::get_if<moves::Fold>(&move) != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_FOLD);
    }
    if (std::get_if<moves::Check>(&move) != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_CHECK);
    }
    if (std::get_if<moves::Call>(&move) != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_CALL);
    }
    if (const auto* given = std::get_if<moves::Bet>(&move); given != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_BET);
      message.set_to(given->to);
    }
    if (const auto* given = std::get_if<moves::Raise>(&move); given != nullptr) {
      message.set_verb(games::v1::SOKO_VERB_RAISE);
      message.set_to(given->to);
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

/// The range of a bet or raise of the seat to act; nothing if it may not bet.
inline std::optional<Bets> bets(const View& view) {
  return view.has_min_to() && view.has_max_to() ? std::optional(Bets{view.min_to(), view.max_to()}) : std::nullopt;
}

}  // namespace cardarena::soko
