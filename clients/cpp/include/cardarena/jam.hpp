// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Jam: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/jam.pb.h"

namespace cardarena::jam {

using View = games::v1::JamView;
using Event = games::v1::JamEvent;
using Claim = games::v1::JamClaim;
using Phase = games::v1::JamPhase;
using Source = games::v1::JamSource;
using EventKind = games::v1::JamEventKind;

inline constexpr Phase phase_lead = games::v1::JAM_PHASE_LEAD;
inline constexpr Phase phase_follow = games::v1::JAM_PHASE_FOLLOW;
inline constexpr Phase phase_draw = games::v1::JAM_PHASE_DRAW;
inline constexpr Phase phase_discard = games::v1::JAM_PHASE_DISCARD;
inline constexpr Phase phase_over = games::v1::JAM_PHASE_OVER;
inline constexpr Source source_stock = games::v1::JAM_SOURCE_STOCK;
inline constexpr Source source_discards = games::v1::JAM_SOURCE_DISCARDS;
inline constexpr EventKind event_began = games::v1::JAM_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::JAM_EVENT_KIND_DEALT;
inline constexpr EventKind event_played = games::v1::JAM_EVENT_KIND_PLAYED;
inline constexpr EventKind event_won = games::v1::JAM_EVENT_KIND_WON;
inline constexpr EventKind event_drawn = games::v1::JAM_EVENT_KIND_DRAWN;
inline constexpr EventKind event_received = games::v1::JAM_EVENT_KIND_RECEIVED;
inline constexpr EventKind event_discarded = games::v1::JAM_EVENT_KIND_DISCARDED;
inline constexpr EventKind event_scored = games::v1::JAM_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: play a card to the trick.
struct Play {
  explicit Play(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const Play&, const Play&) = default;
};

/// The move: draw a card.
struct Draw {
  explicit Draw(Source source) : source(checks::specified("source", source, games::v1::JamSource_IsValid(source))) {}
  Source source;
  friend bool operator==(const Draw&, const Draw&) = default;
};

/// The move: put a card on the own discard pile.
struct Discard {
  explicit Discard(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const Discard&, const Discard&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::JamMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Play, moves::Draw, moves::Discard, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::JamAsk;
  using View = jam::View;
  using Event = jam::Event;
  using Move = jam::Move;
  using MoveMessage = games::v1::JamMove;
  static constexpr int field = 20;
  static constexpr std::string_view family = "jam";
  static Move move(const games::v1::JamMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::JAM_VERB_PLAY:
          return moves::Play(message.card());
        case games::v1::JAM_VERB_DRAW:
          return moves::Draw(message.source());
        case games::v1::JAM_VERB_DISCARD:
          return moves::Discard(message.card());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::JamMove message(const Move& move) {
    games::v1::JamMove message;
    if (const auto* given = std::get_if<moves::Play>(&move); given != nullptr) {
      message.set_verb(games::v1::JAM_VERB_PLAY);
      message.set_card(given->card);
    }
    if (const auto* given = std::get_if<moves::Draw>(&move); given != nullptr) {
      message.set_verb(games::v1::JAM_VERB_DRAW);
      message.set_source(given->source);
    }
    if (const auto* given = std::get_if<moves::Discard>(&move); given != nullptr) {
      message.set_verb(games::v1::JAM_VERB_DISCARD);
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

}  // namespace cardarena::jam
