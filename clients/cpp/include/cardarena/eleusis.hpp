// Generated from proto/ by scripts/proto: do not edit.
// clang-format off

// Eleusis: its messages under short names, its moves, and a bot with its types.
#pragma once

#include <cardarena/cards.hpp>
#include <cardarena/typed.hpp>

#include "cardarena/games/v1/eleusis.pb.h"

namespace cardarena::eleusis {

using View = games::v1::EleusisView;
using Layout = games::v1::EleusisLayout;
using Calls = games::v1::EleusisCalls;
using Guesses = games::v1::EleusisGuesses;
using Office = games::v1::EleusisOffice;
using Event = games::v1::EleusisEvent;
using Phase = games::v1::EleusisPhase;
using Opinion = games::v1::EleusisOpinion;
using End = games::v1::EleusisEnd;
using Verdict = games::v1::EleusisVerdict;
using EventKind = games::v1::EleusisEventKind;

inline constexpr Phase phase_rule = games::v1::ELEUSIS_PHASE_RULE;
inline constexpr Phase phase_play = games::v1::ELEUSIS_PHASE_PLAY;
inline constexpr Phase phase_judge = games::v1::ELEUSIS_PHASE_JUDGE;
inline constexpr Phase phase_prophet_option = games::v1::ELEUSIS_PHASE_PROPHET_OPTION;
inline constexpr Phase phase_guess_option = games::v1::ELEUSIS_PHASE_GUESS_OPTION;
inline constexpr Phase phase_over = games::v1::ELEUSIS_PHASE_OVER;
inline constexpr Opinion opinion_right = games::v1::ELEUSIS_OPINION_RIGHT;
inline constexpr Opinion opinion_wrong = games::v1::ELEUSIS_OPINION_WRONG;
inline constexpr End end_depleted = games::v1::ELEUSIS_END_DEPLETED;
inline constexpr End end_no_play = games::v1::ELEUSIS_END_NO_PLAY;
inline constexpr End end_expelled = games::v1::ELEUSIS_END_EXPELLED;
inline constexpr End end_guess = games::v1::ELEUSIS_END_GUESS;
inline constexpr End end_turn_cap = games::v1::ELEUSIS_END_TURN_CAP;
inline constexpr Verdict verdict_accepted = games::v1::ELEUSIS_VERDICT_ACCEPTED;
inline constexpr Verdict verdict_syntax = games::v1::ELEUSIS_VERDICT_SYNTAX;
inline constexpr Verdict verdict_runtime_error = games::v1::ELEUSIS_VERDICT_RUNTIME_ERROR;
inline constexpr Verdict verdict_cost = games::v1::ELEUSIS_VERDICT_COST;
inline constexpr Verdict verdict_dead_end = games::v1::ELEUSIS_VERDICT_DEAD_END;
inline constexpr Verdict verdict_too_restrictive = games::v1::ELEUSIS_VERDICT_TOO_RESTRICTIVE;
inline constexpr Verdict verdict_too_permissive = games::v1::ELEUSIS_VERDICT_TOO_PERMISSIVE;
inline constexpr EventKind event_hand_began = games::v1::ELEUSIS_EVENT_KIND_HAND_BEGAN;
inline constexpr EventKind event_rule_refused = games::v1::ELEUSIS_EVENT_KIND_RULE_REFUSED;
inline constexpr EventKind event_rule_replaced = games::v1::ELEUSIS_EVENT_KIND_RULE_REPLACED;
inline constexpr EventKind event_dealt = games::v1::ELEUSIS_EVENT_KIND_DEALT;
inline constexpr EventKind event_drawn = games::v1::ELEUSIS_EVENT_KIND_DRAWN;
inline constexpr EventKind event_played = games::v1::ELEUSIS_EVENT_KIND_PLAYED;
inline constexpr EventKind event_no_play_called = games::v1::ELEUSIS_EVENT_KIND_NO_PLAY_CALLED;
inline constexpr EventKind event_judged = games::v1::ELEUSIS_EVENT_KIND_JUDGED;
inline constexpr EventKind event_prophet_deposed = games::v1::ELEUSIS_EVENT_KIND_PROPHET_DEPOSED;
inline constexpr EventKind event_play_resolved = games::v1::ELEUSIS_EVENT_KIND_PLAY_RESOLVED;
inline constexpr EventKind event_no_play_resolved = games::v1::ELEUSIS_EVENT_KIND_NO_PLAY_RESOLVED;
inline constexpr EventKind event_pack_added = games::v1::ELEUSIS_EVENT_KIND_PACK_ADDED;
inline constexpr EventKind event_prophet_declared = games::v1::ELEUSIS_EVENT_KIND_PROPHET_DECLARED;
inline constexpr EventKind event_passed = games::v1::ELEUSIS_EVENT_KIND_PASSED;
inline constexpr EventKind event_guessed = games::v1::ELEUSIS_EVENT_KIND_GUESSED;
inline constexpr EventKind event_guess_refuted = games::v1::ELEUSIS_EVENT_KIND_GUESS_REFUTED;
inline constexpr EventKind event_hand_scored = games::v1::ELEUSIS_EVENT_KIND_HAND_SCORED;

/// Moves, by verb. A constructor takes exactly the fields that the verb uses, and throws std::invalid_argument if
/// one is not a card, a suit or a value of its enum. It does not check whether the move is legal.
namespace moves {

/// The move: set the rule of the hand.
struct Rule {
  explicit Rule(std::string text) : text(std::move(text)) {}
  std::string text;
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// The move: play cards that follow each other from left to right.
struct Play {
  explicit Play(std::vector<std::string> cards) : cards(checks::card(std::move(cards))) {}
  std::vector<std::string> cards;
  friend bool operator==(const Play&, const Play&) = default;
};

/// The move: say that no card of the hand is right, and show it.
struct NoPlay {
  friend bool operator==(const NoPlay&, const NoPlay&) = default;
};

/// The move: judge as the prophet.
struct Judge {
  explicit Judge(Opinion opinion, std::optional<std::string> card = std::nullopt) : opinion(checks::specified("opinion", opinion, games::v1::EleusisOpinion_IsValid(opinion))), card(checks::card(std::move(card))) {}
  Opinion opinion;
  std::optional<std::string> card;
  friend bool operator==(const Judge&, const Judge&) = default;
};

/// The move: become the prophet.
struct Declare {
  friend bool operator==(const Declare&, const Declare&) = default;
};

/// The move: guess the rule.
struct Guess {
  explicit Guess(std::string text) : text(std::move(text)) {}
  std::string text;
  friend bool operator==(const Guess&, const Guess&) = default;
};

/// The move: neither declare nor guess.
struct Pass {
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// An offered move that this version of the SDK does not know.
struct Other {
  games::v1::EleusisMove message;
  friend bool operator==(const Other& one, const Other& other) {
    return one.message.SerializeAsString() == other.message.SerializeAsString();
  }
};

}  // namespace moves

using Move = std::variant<moves::Rule, moves::Play, moves::NoPlay, moves::Judge, moves::Declare, moves::Guess, moves::Pass, moves::Other>;

/// The types of the family.
struct Game {
  using AskMessage = games::v1::EleusisAsk;
  using View = eleusis::View;
  using Event = eleusis::Event;
  using Move = eleusis::Move;
  using MoveMessage = games::v1::EleusisMove;
  static constexpr int field = 28;
  static constexpr std::string_view family = "eleusis";
  static Move move(const games::v1::EleusisMove& message) {
    try {
      switch (message.verb()) {
        case games::v1::ELEUSIS_VERB_RULE:
          return moves::Rule(message.text());
        case games::v1::ELEUSIS_VERB_PLAY:
          return moves::Play(detail::list<std::string>(message.cards()));
        case games::v1::ELEUSIS_VERB_NO_PLAY:
          return moves::NoPlay{};
        case games::v1::ELEUSIS_VERB_JUDGE:
          return moves::Judge(message.opinion(), message.has_card() ? std::optional<std::string>(message.card()) : std::nullopt);
        case games::v1::ELEUSIS_VERB_DECLARE:
          return moves::Declare{};
        case games::v1::ELEUSIS_VERB_GUESS:
          return moves::Guess(message.text());
        case games::v1::ELEUSIS_VERB_PASS:
          return moves::Pass{};
        default:
          break;
      }
    } catch (const std::invalid_argument&) {
      // The message has values that this SDK does not know.
    }
    return moves::Other{message};
  }
  static games::v1::EleusisMove message(const Move& move) {
    games::v1::EleusisMove message;
    if (const auto* given = std::get_if<moves::Rule>(&move); given != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_RULE);
      message.set_text(given->text);
    }
    if (const auto* given = std::get_if<moves::Play>(&move); given != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_PLAY);
      for (const auto& each : given->cards) message.add_cards(each);
    }
    if (std::get_if<moves::NoPlay>(&move) != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_NO_PLAY);
    }
    if (const auto* given = std::get_if<moves::Judge>(&move); given != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_JUDGE);
      message.set_opinion(given->opinion);
      if (given->card) message.set_card(*given->card);
    }
    if (std::get_if<moves::Declare>(&move) != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_DECLARE);
    }
    if (const auto* given = std::get_if<moves::Guess>(&move); given != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_GUESS);
      message.set_text(given->text);
    }
    if (std::get_if<moves::Pass>(&move) != nullptr) {
      message.set_verb(games::v1::ELEUSIS_VERB_PASS);
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

}  // namespace cardarena::eleusis
