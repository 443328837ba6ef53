// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Oklahoma Rummy: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/oklahoma_rummy.pb.h"

namespace cardarena::oklahoma_rummy {

using View = games::v1::OklahomaRummyView;
using Table = games::v1::OklahomaRummyTable;
using TableMeld = games::v1::OklahomaRummyTableMeld;
using Event = games::v1::OklahomaRummyEvent;
using Phase = games::v1::OklahomaRummyPhase;
using MeldKind = games::v1::OklahomaRummyMeldKind;
using End = games::v1::OklahomaRummyEnd;
using EventKind = games::v1::OklahomaRummyEventKind;

inline constexpr Phase phase_draw = games::v1::OKLAHOMA_RUMMY_PHASE_DRAW;
inline constexpr Phase phase_play = games::v1::OKLAHOMA_RUMMY_PHASE_PLAY;
inline constexpr Phase phase_over = games::v1::OKLAHOMA_RUMMY_PHASE_OVER;
inline constexpr MeldKind meld_set = games::v1::OKLAHOMA_RUMMY_MELD_KIND_SET;
inline constexpr MeldKind meld_run = games::v1::OKLAHOMA_RUMMY_MELD_KIND_RUN;
inline constexpr End end_low = games::v1::OKLAHOMA_RUMMY_END_LOW;
inline constexpr End end_high = games::v1::OKLAHOMA_RUMMY_END_HIGH;
inline constexpr EventKind event_began = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_DEALT;
inline constexpr EventKind event_stock_rebuilt = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_STOCK_REBUILT;
inline constexpr EventKind event_drew = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_DREW;
inline constexpr EventKind event_received = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_RECEIVED;
inline constexpr EventKind event_pile_taken = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_PILE_TAKEN;
inline constexpr EventKind event_declined = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_DECLINED;
inline constexpr EventKind event_melded = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_MELDED;
inline constexpr EventKind event_extended = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_EXTENDED;
inline constexpr EventKind event_discarded = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_DISCARDED;
inline constexpr EventKind event_kept_queens = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_KEPT_QUEENS;
inline constexpr EventKind event_scored = games::v1::OKLAHOMA_RUMMY_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: draw a card from the stock.
struct Draw {
  friend bool operator==(const Draw&, const Draw&) = default;
};

/// The move: meld the top discard and two cards of the hand, and take the rest of the pile.
struct TakePile {
  explicit TakePile(MeldKind kind, std::vector<std::string> cards) : kind(checks::specified("kind", kind, games::v1::OklahomaRummyMeldKind_IsValid(kind))), cards(checks::card(std::move(cards))) {}
  MeldKind kind;
  std::vector<std::string> cards;
  friend bool operator==(const TakePile&, const TakePile&) = default;
};

/// The move: leave the pile where nothing can be drawn, which ends the hand.
struct Decline {
  friend bool operator==(const Decline&, const Decline&) = default;
};

/// The move: put down a meld.
struct Meld {
  explicit Meld(MeldKind kind, std::vector<std::string> cards) : kind(checks::specified("kind", kind, games::v1::OklahomaRummyMeldKind_IsValid(kind))), cards(checks::card(std::move(cards))) {}
  MeldKind kind;
  std::vector<std::string> cards;
  friend bool operator==(const Meld&, const Meld&) = default;
};

/// The move: add a card of the hand to a meld of one's own.
struct Extend {
  explicit Extend(std::uint32_t index, std::string card, End end = games::v1::OKLAHOMA_RUMMY_END_UNSPECIFIED) : index(index), card(checks::card(std::move(card))), end(checks::valid("end", end, games::v1::OklahomaRummyEnd_IsValid(end))) {}
  std::uint32_t index;
  std::string card;
  End end;
  friend bool operator==(const Extend&, const Extend&) = default;
};

/// The move: end the turn with a discard.
struct Discard {
  explicit Discard(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const Discard&, const Discard&) = default;
};

/// The move: end the turn with nothing but queens of spades in hand.
struct NoDiscard {
  friend bool operator==(const NoDiscard&, const NoDiscard&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::OklahomaRummyMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Draw, moves::TakePile, moves::Decline, moves::Meld, moves::Extend, moves::Discard, moves::NoDiscard, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::OklahomaRummyAsk;
  using View = oklahoma_rummy::View;
  using Event = oklahoma_rummy::Event;
  using Move = oklahoma_rummy::Move;
  using MoveMessage = games::v1::OklahomaRummyMove;
  static constexpr int field = 24;
  static constexpr std::string_view family = "oklahoma_rummy";
  static Move move(const games::v1::OklahomaRummyMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::OKLAHOMA_RUMMY_VERB_DRAW:
          return moves::Draw{};
        case games::v1::OKLAHOMA_RUMMY_VERB_TAKE_PILE:
          return moves::TakePile(message.kind(), detail::list<std::string>(message.cards()));
        case games::v1::OKLAHOMA_RUMMY_VERB_DECLINE:
          return moves::Decline{};
        case games::v1::OKLAHOMA_RUMMY_VERB_MELD:
          return moves::Meld(message.kind(), detail::list<std::string>(message.cards()));
        case games::v1::OKLAHOMA_RUMMY_VERB_EXTEND:
          return moves::Extend(message.index(), message.card(), message.end());
        case games::v1::OKLAHOMA_RUMMY_VERB_DISCARD:
          return moves::Discard(message.card());
        case games::v1::OKLAHOMA_RUMMY_VERB_NO_DISCARD:
          return moves::NoDiscard{};
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::OklahomaRummyMove message(const Move& move) {
    games::v1::OklahomaRummyMove message;
    if (std::get_if<moves::Draw>(&move) != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_DRAW);
    }
    if (const auto* given = std::get_if<moves::TakePile>(&move); given != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_TAKE_PILE);
      message.set_kind(given->kind);
      for (const auto& each : given->cards) message.add_cards(each);
    }
    if (std::get_if<moves::Decline>(&move) != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_DECLINE);
    }
    if (const auto* given = std::get_if<moves::Meld>(&move); given != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_MELD);
      message.set_kind(given->kind);
      for (const auto& each : given->cards) message.add_cards(each);
    }
    if (const auto* given = std::get_if<moves::Extend>(&move); given != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_EXTEND);
      message.set_index(given->index);
      message.set_card(given->card);
      message.set_end(given->end);
    }
    if (const auto* given = std::get_if<moves::Discard>(&move); given != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_DISCARD);
      message.set_card(given->card);
    }
    if (std::get_if<moves::NoDiscard>(&move) != nullptr) {
      message.set_verb(games::v1::OKLAHOMA_RUMMY_VERB_NO_DISCARD);
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

}  // namespace cardarena::oklahoma_rummy
