// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Klaberjass: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/klaberjass.pb.h"

namespace cardarena::klaberjass {

using View = games::v1::KlaberjassView;
using Auction = games::v1::KlaberjassAuction;
using Contest = games::v1::KlaberjassContest;
using Event = games::v1::KlaberjassEvent;
using Split = games::v1::KlaberjassSplit;
using Phase = games::v1::KlaberjassPhase;
using Call = games::v1::KlaberjassCall;
using Word = games::v1::KlaberjassWord;
using EventKind = games::v1::KlaberjassEventKind;

inline constexpr Phase phase_first_bid = games::v1::KLABERJASS_PHASE_FIRST_BID;
inline constexpr Phase phase_second_bid = games::v1::KLABERJASS_PHASE_SECOND_BID;
inline constexpr Phase phase_reply = games::v1::KLABERJASS_PHASE_REPLY;
inline constexpr Phase phase_name = games::v1::KLABERJASS_PHASE_NAME;
inline constexpr Phase phase_dix = games::v1::KLABERJASS_PHASE_DIX;
inline constexpr Phase phase_announce = games::v1::KLABERJASS_PHASE_ANNOUNCE;
inline constexpr Phase phase_answer = games::v1::KLABERJASS_PHASE_ANSWER;
inline constexpr Phase phase_lead = games::v1::KLABERJASS_PHASE_LEAD;
inline constexpr Phase phase_follow = games::v1::KLABERJASS_PHASE_FOLLOW;
inline constexpr Phase phase_over = games::v1::KLABERJASS_PHASE_OVER;
inline constexpr Call call_pass = games::v1::KLABERJASS_CALL_PASS;
inline constexpr Call call_schmeiss = games::v1::KLABERJASS_CALL_SCHMEISS;
inline constexpr Call call_yes = games::v1::KLABERJASS_CALL_YES;
inline constexpr Call call_no = games::v1::KLABERJASS_CALL_NO;
inline constexpr Word word_good = games::v1::KLABERJASS_WORD_GOOD;
inline constexpr Word word_not_good = games::v1::KLABERJASS_WORD_NOT_GOOD;
inline constexpr Word word_how_high = games::v1::KLABERJASS_WORD_HOW_HIGH;
inline constexpr Word word_also = games::v1::KLABERJASS_WORD_ALSO;
inline constexpr EventKind event_began = games::v1::KLABERJASS_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::KLABERJASS_EVENT_KIND_DEALT;
inline constexpr EventKind event_called = games::v1::KLABERJASS_EVENT_KIND_CALLED;
inline constexpr EventKind event_made = games::v1::KLABERJASS_EVENT_KIND_MADE;
inline constexpr EventKind event_thrown_in = games::v1::KLABERJASS_EVENT_KIND_THROWN_IN;
inline constexpr EventKind event_kept = games::v1::KLABERJASS_EVENT_KIND_KEPT;
inline constexpr EventKind event_exchanged = games::v1::KLABERJASS_EVENT_KIND_EXCHANGED;
inline constexpr EventKind event_announced = games::v1::KLABERJASS_EVENT_KIND_ANNOUNCED;
inline constexpr EventKind event_answered = games::v1::KLABERJASS_EVENT_KIND_ANSWERED;
inline constexpr EventKind event_named_top = games::v1::KLABERJASS_EVENT_KIND_NAMED_TOP;
inline constexpr EventKind event_named_suit = games::v1::KLABERJASS_EVENT_KIND_NAMED_SUIT;
inline constexpr EventKind event_played = games::v1::KLABERJASS_EVENT_KIND_PLAYED;
inline constexpr EventKind event_won = games::v1::KLABERJASS_EVENT_KIND_WON;
inline constexpr EventKind event_shown = games::v1::KLABERJASS_EVENT_KIND_SHOWN;
inline constexpr EventKind event_scored = games::v1::KLABERJASS_EVENT_KIND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: make the suit of the upcard trump.
struct Take {
  friend bool operator==(const Take&, const Take&) = default;
};

/// The move: let the other seat bid.
struct Pass {
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// The move: offer to throw the hand in; if refused, make trump oneself.
struct Schmeiss {
  friend bool operator==(const Schmeiss&, const Schmeiss&) = default;
};

/// The move: accept the schmeiss.
struct Yes {
  friend bool operator==(const Yes&, const Yes&) = default;
};

/// The move: refuse the schmeiss.
struct No {
  friend bool operator==(const No&, const No&) = default;
};

/// The move: make a suit trump.
struct Name {
  explicit Name(std::string suit) : suit(checks::suit(std::move(suit))) {}
  std::string suit;
  friend bool operator==(const Name&, const Name&) = default;
};

/// The move: leave the upcard.
struct Keep {
  friend bool operator==(const Keep&, const Keep&) = default;
};

/// The move: take the upcard for the seven of trump.
struct Exchange {
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// The move: announce no sequence.
struct NoMeld {
  friend bool operator==(const NoMeld&, const NoMeld&) = default;
};

/// The move: announce the best sequence.
struct Announce {
  explicit Announce(std::uint32_t value) : value(value) {}
  std::uint32_t value;
  friend bool operator==(const Announce&, const Announce&) = default;
};

/// The move: let the announcement stand.
struct Good {
  friend bool operator==(const Good&, const Good&) = default;
};

/// The move: answer a twenty with a fifty.
struct NotGood {
  friend bool operator==(const NotGood&, const NotGood&) = default;
};

/// The move: answer with the same value.
struct HowHigh {
  friend bool operator==(const HowHigh&, const HowHigh&) = default;
};

/// The move: play a card.
struct Play {
  explicit Play(std::string card, bool bela) : card(checks::card(std::move(card))), bela(bela) {}
  std::string card;
  bool bela;
  friend bool operator==(const Play&, const Play&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::KlaberjassMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Take, moves::Pass, moves::Schmeiss, moves::Yes, moves::No, moves::Name, moves::Keep, moves::Exchange, moves::NoMeld, moves::Announce, moves::Good, moves::NotGood, moves::HowHigh, moves::Play, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::KlaberjassAsk;
  using View = klaberjass::View;
  using Event = klaberjass::Event;
  using Move = klaberjass::Move;
  using MoveMessage = games::v1::KlaberjassMove;
  static constexpr int field = 21;
  static constexpr std::string_view family = "klaberjass";
  static Move move(const games::v1::KlaberjassMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::KLABERJASS_VERB_TAKE:
          return moves::Take{};
        case games::v1::KLABERJASS_VERB_PASS:
          return moves::Pass{};
        case games::v1::KLABERJASS_VERB_SCHMEISS:
          return moves::Schmeiss{};
        case games::v1::KLABERJASS_VERB_YES:
          return moves::Yes{};
        case games::v1::KLABERJASS_VERB_NO:
          return moves::No{};
        case games::v1::KLABERJASS_VERB_NAME:
          return moves::Name(message.suit());
        case games::v1::KLABERJASS_VERB_KEEP:
          return moves::Keep{};
        case games::v1::KLABERJASS_VERB_EXCHANGE:
          return moves::Exchange{};
        case games::v1::KLABERJASS_VERB_NO_MELD:
          return moves::NoMeld{};
        case games::v1::KLABERJASS_VERB_ANNOUNCE:
          return moves::Announce(message.value());
        case games::v1::KLABERJASS_VERB_GOOD:
          return moves::Good{};
        case games::v1::KLABERJASS_VERB_NOT_GOOD:
          return moves::NotGood{};
        case games::v1::KLABERJASS_VERB_HOW_HIGH:
          return moves::HowHigh{};
        case games::v1::KLABERJASS_VERB_PLAY:
          return moves::Play(message.card(), message.bela());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::KlaberjassMove message(const Move& move) {
    games::v1::KlaberjassMove message;
    if (std::get_if<moves::Take>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_TAKE);
    }
    if (std::get_if<moves::Pass>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_PASS);
    }
    if (std::get_if<moves::Schmeiss>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_SCHMEISS);
    }
    if (std::get_if<moves::Yes>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_YES);
    }
    if (std::get_if<moves::No>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_NO);
    }
    if (const auto* given = std::get_if<moves::Name>(&move); given != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_NAME);
      message.set_suit(given->suit);
    }
    if (std::get_if<moves::Keep>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_KEEP);
    }
    if (std::get_if<moves::Exchange>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_EXCHANGE);
    }
    if (std::get_if<moves::NoMeld>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_NO_MELD);
    }
    if (const auto* given = std::get_if<moves::Announce>(&move); given != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_ANNOUNCE);
      message.set_value(given->value);
    }
    if (std::get_if<moves::Good>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_GOOD);
    }
    if (std::get_if<moves::NotGood>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_NOT_GOOD);
    }
    if (std::get_if<moves::HowHigh>(&move) != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_HOW_HIGH);
    }
    if (const auto* given = std::get_if<moves::Play>(&move); given != nullptr) {
      message.set_verb(games::v1::KLABERJASS_VERB_PLAY);
      message.set_card(given->card);
      message.set_bela(given->bela);
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

}  // namespace cardarena::klaberjass
