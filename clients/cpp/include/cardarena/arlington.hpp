// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Arlington: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/arlington.pb.h"

namespace cardarena::arlington {

using View = games::v1::ArlingtonView;
using Table = games::v1::ArlingtonTable;
using Active = games::v1::ArlingtonActive;
using Event = games::v1::ArlingtonEvent;
using Phase = games::v1::ArlingtonPhase;
using Spectrum = games::v1::ArlingtonSpectrum;
using EventKind = games::v1::ArlingtonEventKind;

inline constexpr Phase phase_lead = games::v1::ARLINGTON_PHASE_LEAD;
inline constexpr Phase phase_trick = games::v1::ARLINGTON_PHASE_TRICK;
inline constexpr Phase phase_respond = games::v1::ARLINGTON_PHASE_RESPOND;
inline constexpr Phase phase_over = games::v1::ARLINGTON_PHASE_OVER;
inline constexpr Spectrum spectrum_aces = games::v1::ARLINGTON_SPECTRUM_ACES;
inline constexpr Spectrum spectrum_multiples = games::v1::ARLINGTON_SPECTRUM_MULTIPLES;
inline constexpr Spectrum spectrum_couples = games::v1::ARLINGTON_SPECTRUM_COUPLES;
inline constexpr Spectrum spectrum_runs = games::v1::ARLINGTON_SPECTRUM_RUNS;
inline constexpr EventKind event_began = games::v1::ARLINGTON_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::ARLINGTON_EVENT_KIND_DEALT;
inline constexpr EventKind event_card_led = games::v1::ARLINGTON_EVENT_KIND_CARD_LED;
inline constexpr EventKind event_card_played = games::v1::ARLINGTON_EVENT_KIND_CARD_PLAYED;
inline constexpr EventKind event_trick_taken = games::v1::ARLINGTON_EVENT_KIND_TRICK_TAKEN;
inline constexpr EventKind event_set_led = games::v1::ARLINGTON_EVENT_KIND_SET_LED;
inline constexpr EventKind event_passed = games::v1::ARLINGTON_EVENT_KIND_PASSED;
inline constexpr EventKind event_overplayed = games::v1::ARLINGTON_EVENT_KIND_OVERPLAYED;
inline constexpr EventKind event_killed = games::v1::ARLINGTON_EVENT_KIND_KILLED;
inline constexpr EventKind event_set_kept = games::v1::ARLINGTON_EVENT_KIND_SET_KEPT;
inline constexpr EventKind event_s2_played = games::v1::ARLINGTON_EVENT_KIND_S2_PLAYED;
inline constexpr EventKind event_card_added = games::v1::ARLINGTON_EVENT_KIND_CARD_ADDED;
inline constexpr EventKind event_joker_taken = games::v1::ARLINGTON_EVENT_KIND_JOKER_TAKEN;
inline constexpr EventKind event_scored = games::v1::ARLINGTON_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: lead a card to a trick.
struct LeadCard {
  explicit LeadCard(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const LeadCard&, const LeadCard&) = default;
};

/// The move: lead a set.
struct LeadSet {
  explicit LeadSet(std::vector<std::string> cards, Spectrum spectrum = games::v1::ARLINGTON_SPECTRUM_UNSPECIFIED) : cards(checks::card(std::move(cards))), spectrum(checks::valid("spectrum", spectrum, games::v1::ArlingtonSpectrum_IsValid(spectrum))) {}
  std::vector<std::string> cards;
  Spectrum spectrum;
  friend bool operator==(const LeadSet&, const LeadSet&) = default;
};

/// The move: bury a set on a table, the two of spades with it.
struct PlayS2 {
  explicit PlayS2(std::uint32_t seat, std::uint32_t index) : seat(seat), index(index) {}
  std::uint32_t seat;
  std::uint32_t index;
  friend bool operator==(const PlayS2&, const PlayS2&) = default;
};

/// The move: add a card of the hand to a set on a table.
struct Add {
  explicit Add(std::uint32_t seat, std::uint32_t index, std::string card) : seat(seat), index(index), card(checks::card(std::move(card))) {}
  std::uint32_t seat;
  std::uint32_t index;
  std::string card;
  friend bool operator==(const Add&, const Add&) = default;
};

/// The move: take a joker of a set on a table for a suit card.
struct TakeJoker {
  explicit TakeJoker(std::uint32_t seat, std::uint32_t index, std::string card) : seat(seat), index(index), card(checks::card(std::move(card))) {}
  std::uint32_t seat;
  std::uint32_t index;
  std::string card;
  friend bool operator==(const TakeJoker&, const TakeJoker&) = default;
};

/// The move: play a card to the trick.
struct PlayCard {
  explicit PlayCard(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const PlayCard&, const PlayCard&) = default;
};

/// The move: let the active set be.
struct Pass {
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// The move: beat the active set with a higher one.
struct Overplay {
  explicit Overplay(std::vector<std::string> cards) : cards(checks::card(std::move(cards))) {}
  std::vector<std::string> cards;
  friend bool operator==(const Overplay&, const Overplay&) = default;
};

/// The move: bury the active set with the two of spades and take the lead.
struct Kill {
  friend bool operator==(const Kill&, const Kill&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::ArlingtonMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::LeadCard, moves::LeadSet, moves::PlayS2, moves::Add, moves::TakeJoker, moves::PlayCard, moves::Pass, moves::Overplay, moves::Kill, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::ArlingtonAsk;
  using View = arlington::View;
  using Event = arlington::Event;
  using Move = arlington::Move;
  using MoveMessage = games::v1::ArlingtonMove;
  static constexpr int field = 19;
  static constexpr std::string_view family = "arlington";
  static Move move(const games::v1::ArlingtonMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::ARLINGTON_VERB_LEAD_CARD:
          return moves::LeadCard(message.card());
        case games::v1::ARLINGTON_VERB_LEAD_SET:
          return moves::LeadSet(detail::list<std::string>(message.cards()), message.spectrum());
        case games::v1::ARLINGTON_VERB_PLAY_S2:
          return moves::PlayS2(message.seat(), message.index());
        case games::v1::ARLINGTON_VERB_ADD:
          return moves::Add(message.seat(), message.index(), message.card());
        case games::v1::ARLINGTON_VERB_TAKE_JOKER:
          return moves::TakeJoker(message.seat(), message.index(), message.card());
        case games::v1::ARLINGTON_VERB_PLAY_CARD:
          return moves::PlayCard(message.card());
        case games::v1::ARLINGTON_VERB_PASS:
          return moves::Pass{};
        case games::v1::ARLINGTON_VERB_OVERPLAY:
          return moves::Overplay(detail::list<std::string>(message.cards()));
        case games::v1::ARLINGTON_VERB_KILL:
          return moves::Kill{};
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::ArlingtonMove message(const Move& move) {
    games::v1::ArlingtonMove message;
    if (const auto* given = std::get_if<moves::LeadCard>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_LEAD_CARD);
      message.set_card(given->card);
    }
    if (const auto* given = std::get_if<moves::LeadSet>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_LEAD_SET);
      for (const auto& each : given->cards) message.add_cards(each);
      message.set_spectrum(given->spectrum);
    }
    if (const auto* given = std::get_if<moves::PlayS2>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_PLAY_S2);
      message.set_seat(given->seat);
      message.set_index(given->index);
    }
    if (const auto* given = std::get_if<moves::Add>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_ADD);
      message.set_seat(given->seat);
      message.set_index(given->index);
      message.set_card(given->card);
    }
    if (const auto* given = std::get_if<moves::TakeJoker>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_TAKE_JOKER);
      message.set_seat(given->seat);
      message.set_index(given->index);
      message.set_card(given->card);
    }
    if (const auto* given = std::get_if<moves::PlayCard>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_PLAY_CARD);
      message.set_card(given->card);
    }
    if (std::get_if<moves::Pass>(&move) != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_PASS);
    }
    if (const auto* given = std::get_if<moves::Overplay>(&move); given != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_OVERPLAY);
      for (const auto& each : given->cards) message.add_cards(each);
    }
    if (std::get_if<moves::Kill>(&move) != nullptr) {
      message.set_verb(games::v1::ARLINGTON_VERB_KILL);
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

}  // namespace cardarena::arlington
