// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Democracy: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/democracy.pb.h"

namespace cardarena::democracy {

using View = games::v1::DemocracyView;
using Island = games::v1::DemocracyIsland;
using SuitPoints = games::v1::DemocracySuitPoints;
using Event = games::v1::DemocracyEvent;
using Phase = games::v1::DemocracyPhase;
using EventKind = games::v1::DemocracyEventKind;

inline constexpr Phase phase_play = games::v1::DEMOCRACY_PHASE_PLAY;
inline constexpr Phase phase_over = games::v1::DEMOCRACY_PHASE_OVER;
inline constexpr EventKind event_day_began = games::v1::DEMOCRACY_EVENT_KIND_DAY_BEGAN;
inline constexpr EventKind event_dealt = games::v1::DEMOCRACY_EVENT_KIND_DEALT;
inline constexpr EventKind event_turned_up = games::v1::DEMOCRACY_EVENT_KIND_TURNED_UP;
inline constexpr EventKind event_shown = games::v1::DEMOCRACY_EVENT_KIND_SHOWN;
inline constexpr EventKind event_scored = games::v1::DEMOCRACY_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: play a card of the hand.
struct PlayCard {
  explicit PlayCard(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const PlayCard&, const PlayCard&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::DemocracyMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::PlayCard, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::DemocracyAsk;
  using View = democracy::View;
  using Event = democracy::Event;
  using Move = democracy::Move;
  using MoveMessage = games::v1::DemocracyMove;
  static constexpr int field = 17;
  static constexpr std::string_view family = "democracy";
  static Move move(const games::v1::DemocracyMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::DEMOCRACY_VERB_PLAY_CARD:
          return moves::PlayCard(message.card());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::DemocracyMove message(const Move& move) {
    games::v1::DemocracyMove message;
    if (const auto* given = std::get_if<moves::PlayCard>(&move); given != nullptr) {
      message.set_verb(games::v1::DEMOCRACY_VERB_PLAY_CARD);
      message.set_card(given->card);
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

}  // namespace cardarena::democracy
