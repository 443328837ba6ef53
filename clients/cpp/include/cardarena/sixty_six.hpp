// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Sixty Six: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/sixty_six.pb.h"

namespace cardarena::sixty_six {

using View = games::v1::SixtySixView;
using Event = games::v1::SixtySixEvent;
using Phase = games::v1::SixtySixPhase;
using EventKind = games::v1::SixtySixEventKind;
using Reason = games::v1::SixtySixReason;

inline constexpr Phase phase_lead = games::v1::SIXTY_SIX_PHASE_LEAD;
inline constexpr Phase phase_follow = games::v1::SIXTY_SIX_PHASE_FOLLOW;
inline constexpr Phase phase_over = games::v1::SIXTY_SIX_PHASE_OVER;
inline constexpr EventKind event_began = games::v1::SIXTY_SIX_EVENT_KIND_BEGAN;
inline constexpr EventKind event_dealt = games::v1::SIXTY_SIX_EVENT_KIND_DEALT;
inline constexpr EventKind event_claimed = games::v1::SIXTY_SIX_EVENT_KIND_CLAIMED;
inline constexpr EventKind event_closed = games::v1::SIXTY_SIX_EVENT_KIND_CLOSED;
inline constexpr EventKind event_exchanged = games::v1::SIXTY_SIX_EVENT_KIND_EXCHANGED;
inline constexpr EventKind event_married = games::v1::SIXTY_SIX_EVENT_KIND_MARRIED;
inline constexpr EventKind event_played = games::v1::SIXTY_SIX_EVENT_KIND_PLAYED;
inline constexpr EventKind event_won = games::v1::SIXTY_SIX_EVENT_KIND_WON;
inline constexpr EventKind event_drawn = games::v1::SIXTY_SIX_EVENT_KIND_DRAWN;
inline constexpr EventKind event_scored = games::v1::SIXTY_SIX_EVENT_KIND_SCORED;
inline constexpr Reason reason_false_claim = games::v1::SIXTY_SIX_REASON_FALSE_CLAIM;
inline constexpr Reason reason_false_claim_trickless = games::v1::SIXTY_SIX_REASON_FALSE_CLAIM_TRICKLESS;
inline constexpr Reason reason_closer_short = games::v1::SIXTY_SIX_REASON_CLOSER_SHORT;
inline constexpr Reason reason_closer_short_trickless = games::v1::SIXTY_SIX_REASON_CLOSER_SHORT_TRICKLESS;
inline constexpr Reason reason_sixty_six = games::v1::SIXTY_SIX_REASON_SIXTY_SIX;
inline constexpr Reason reason_schneider = games::v1::SIXTY_SIX_REASON_SCHNEIDER;
inline constexpr Reason reason_schwarz = games::v1::SIXTY_SIX_REASON_SCHWARZ;
inline constexpr Reason reason_null = games::v1::SIXTY_SIX_REASON_NULL;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: say that the own points are 66 or more, which ends the hand.
struct Claim {
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// The move: close the stock.
struct Close {
  friend bool operator==(const Close&, const Close&) = default;
};

/// The move: take the upcard for the nine of trump.
struct Exchange {
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// The move: show king and queen of a suit before leading one of them.
struct Marriage {
  explicit Marriage(std::string suit) : suit(checks::suit(std::move(suit))) {}
  std::string suit;
  friend bool operator==(const Marriage&, const Marriage&) = default;
};

/// The move: play a card.
struct Play {
  explicit Play(std::string card) : card(checks::card(std::move(card))) {}
  std::string card;
  friend bool operator==(const Play&, const Play&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::SixtySixMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Claim, moves::Close, moves::Exchange, moves::Marriage, moves::Play, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::SixtySixAsk;
  using View = sixty_six::View;
  using Event = sixty_six::Event;
  using Move = sixty_six::Move;
  using MoveMessage = games::v1::SixtySixMove;
  static constexpr int field = 22;
  static constexpr std::string_view family = "sixty_six";
  static Move move(const games::v1::SixtySixMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::SIXTY_SIX_VERB_CLAIM:
          return moves::Claim{};
        case games::v1::SIXTY_SIX_VERB_CLOSE:
          return moves::Close{};
        case games::v1::SIXTY_SIX_VERB_EXCHANGE:
          return moves::Exchange{};
        case games::v1::SIXTY_SIX_VERB_MARRIAGE:
          return moves::Marriage(message.suit());
        case games::v1::SIXTY_SIX_VERB_PLAY:
          return moves::Play(message.card());
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::SixtySixMove message(const Move& move) {
    games::v1::SixtySixMove message;
    if (std::get_if<moves::Claim>(&move) != nullptr) {
      message.set_verb(games::v1::SIXTY_SIX_VERB_CLAIM);
    }
    if (std::get_if<moves::Close>(&move) != nullptr) {
      message.set_verb(games::v1::SIXTY_SIX_VERB_CLOSE);
    }
    if (std::get_if<moves::Exchange>(&move) != nullptr) {
      message.set_verb(games::v1::SIXTY_SIX_VERB_EXCHANGE);
    }
    if (const auto* given = std::get_if<moves::Marriage>(&move); given != nullptr) {
      message.set_verb(games::v1::SIXTY_SIX_VERB_MARRIAGE);
      message.set_suit(given->suit);
    }
    if (const auto* given = std::get_if<moves::Play>(&move); given != nullptr) {
      message.set_verb(games::v1::SIXTY_SIX_VERB_PLAY);
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

}  // namespace cardarena::sixty_six
