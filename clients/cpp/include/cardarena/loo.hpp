// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Loo: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/loo.pb.h"

namespace cardarena::loo {

using View = games::v1::LooView;
using Event = games::v1::LooEvent;
using Phase = games::v1::LooPhase;
using Ending = games::v1::LooEnding;
using EventKind = games::v1::LooEventKind;

inline constexpr Phase phase_declare = games::v1::LOO_PHASE_DECLARE;
inline constexpr Phase phase_first_flush = games::v1::LOO_PHASE_FIRST_FLUSH;
inline constexpr Phase phase_exchange = games::v1::LOO_PHASE_EXCHANGE;
inline constexpr Phase phase_second_flush = games::v1::LOO_PHASE_SECOND_FLUSH;
inline constexpr Phase phase_lead = games::v1::LOO_PHASE_LEAD;
inline constexpr Phase phase_follow = games::v1::LOO_PHASE_FOLLOW;
inline constexpr Phase phase_over = games::v1::LOO_PHASE_OVER;
inline constexpr Ending ending_all_passed = games::v1::LOO_ENDING_ALL_PASSED;
inline constexpr Ending ending_walkover = games::v1::LOO_ENDING_WALKOVER;
inline constexpr Ending ending_flush = games::v1::LOO_ENDING_FLUSH;
inline constexpr Ending ending_played = games::v1::LOO_ENDING_PLAYED;
inline constexpr EventKind event_began = games::v1::LOO_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::LOO_EVENT_KIND_DEALT;
inline constexpr EventKind event_declared = games::v1::LOO_EVENT_KIND_DECLARED;
inline constexpr EventKind event_exchanged = games::v1::LOO_EVENT_KIND_EXCHANGED;
inline constexpr EventKind event_drawn = games::v1::LOO_EVENT_KIND_DRAWN;
inline constexpr EventKind event_recycled = games::v1::LOO_EVENT_KIND_RECYCLED;
inline constexpr EventKind event_flush_shown = games::v1::LOO_EVENT_KIND_FLUSH_SHOWN;
inline constexpr EventKind event_played = games::v1::LOO_EVENT_KIND_PLAYED;
inline constexpr EventKind event_won = games::v1::LOO_EVENT_KIND_WON;
inline constexpr EventKind event_scored = games::v1::LOO_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: play the hand.
struct PlayHand {
  friend bool operator==(const PlayHand&, const PlayHand&) = default;
};

/// The move: stay out of the hand.
struct Pass {
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// The move: show a flush, which ends the hand.
struct RevealFlush {
  friend bool operator==(const RevealFlush&, const RevealFlush&) = default;
};

/// The move: show nothing.
struct Hold {
  friend bool operator==(const Hold&, const Hold&) = default;
};

/// The move: exchange cards.
struct Exchange {
  explicit Exchange(std::vector<std::string> cards) : cards(checks::card(std::move(cards))) {}
  std::vector<std::string> cards;
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// The move: play a card.
struct Play {
  explicit Play(std::string card, bool civil) : card(checks::card(std::move(card))), civil(civil) {}
  std::string card;
  bool civil;
  friend bool operator==(const Play&, const Play&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::LooMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::PlayHand, moves::Pass, moves::RevealFlush, moves::Hold, moves::Exchange, moves::Play, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::LooAsk;
  using View = loo::View;
  using Event = loo::Event;
  using Move = loo::Move;
  using MoveMessage = games::v1::LooMove;
  static constexpr int field = 23;
  static constexpr std::string_view family = "loo";
  static Move move(const games::v1::LooMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::LOO_VERB_PLAY_HAND:
          return moves::PlayHand{};
        case games::v1::LOO_VERB_PASS:
          return moves::Pass{};
        case games::v1::LOO_VERB_REVEAL_FLUSH:
          return moves::RevealFlush{};
        case games::v1::LOO_VERB_HOLD:
          return moves::Hold{};
        case games::v1::LOO_VERB_EXCHANGE:
          return moves::Exchange(detail::list<std::string>(message.cards()));
        case games::v1::LOO_VERB_PLAY:
          return moves::Play(message.card(), message.civil());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::LooMove message(const Move& move) {
    games::v1::LooMove message;
    if (std::get_if<moves::PlayHand>(&move) != nullptr) {
      message.set_verb(games::v1::LOO_VERB_PLAY_HAND);
    }
    if (std::get_if<moves::Pass>(&move) != nullptr) {
      message.set_verb(games::v1::LOO_VERB_PASS);
    }
    if (std::get_if<moves::RevealFlush>(&move) != nullptr) {
      message.set_verb(games::v1::LOO_VERB_REVEAL_FLUSH);
    }
    if (std::get_if<moves::Hold>(&move) != nullptr) {
      message.set_verb(games::v1::LOO_VERB_HOLD);
    }
    if (const auto* given = std::get_if<moves::Exchange>(&move); given != nullptr) {
      message.set_verb(games::v1::LOO_VERB_EXCHANGE);
      for (const auto& each : given->cards) message.add_cards(each);
    }
    if (const auto* given = std::get_if<moves::Play>(&move); given != nullptr) {
      message.set_verb(games::v1::LOO_VERB_PLAY);
      message.set_card(given->card);
      message.set_civil(given->civil);
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

}  // namespace cardarena::loo
