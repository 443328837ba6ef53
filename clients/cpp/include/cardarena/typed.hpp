// Asks, choices and bots with the types of one family of games. The header of a family names its types.
#pragma once

#include <cardarena/cardarena.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cardarena {

/// The range of a bet or raise, in chips.
struct Bets {
  std::uint32_t least = 0;
  std::uint32_t most = 0;

  bool has(std::uint32_t to) const { return least <= to && to <= most; }
  /// The bet. Throws std::invalid_argument if it is outside the range.
  std::uint32_t at(std::uint32_t to) const {
    if (!has(to)) {
      throw std::invalid_argument("a bet to " + std::to_string(to) + " is out of range: write " +
                                  std::to_string(least) + " to " + std::to_string(most));
    }
    return to;
  }
  /// The bet in the range that is nearest to an amount.
  std::uint32_t nearest(std::uint32_t to) const { return to < least ? least : to > most ? most : to; }
};

/// A bot's answer to an ask of the game: an offered move, or a move; and an optional note.
template <class Game>
class TypedChoice {
 public:
  static TypedChoice index(std::size_t index) { return TypedChoice(Choice::index(index)); }
  static TypedChoice move(const typename Game::Move& move) {
    return TypedChoice(Choice::move(Game::field, Game::message(move).SerializeAsString()));
  }
  TypedChoice with_note(std::string note) const { return TypedChoice(untyped_.with_note(std::move(note))); }
  const Choice& untyped() const { return untyped_; }

 private:
  explicit TypedChoice(Choice untyped) : untyped_(std::move(untyped)) {}
  Choice untyped_;
};

/// One decision of a seat, with everything that the seat can see.
template <class Game>
class TypedAsk {
 public:
  /// Throws std::invalid_argument if the ask is of another game.
  explicit TypedAsk(Ask ask) : untyped(std::move(ask)) {
    typename Game::AskMessage body;
    const auto bytes = untyped.body();
    if (untyped.field() != Game::field ||
        !body.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      throw std::invalid_argument("the ask is not of this game");
    }
    view = std::move(*body.mutable_view());
    for (const auto& move : body.moves()) {
      moves.push_back(Game::move(move));
    }
    for (const auto& bytes_of_event : untyped.events()) {
      if (typename Game::Event event; event.ParseFromString(bytes_of_event)) {
        events.push_back(std::move(event));
      }
    }
  }

  /// The ask without types: its match, texts, time and random numbers.
  Ask untyped;
  /// What the seat sees now.
  typename Game::View view;
  /// Legal moves, at least one. If untyped.moves_complete(), these are all legal moves.
  std::vector<typename Game::Move> moves;
  /// What happened since the bot last received an ask of this match, oldest first.
  std::vector<typename Game::Event> events;

  const Match& match() const { return untyped.match(); }
  Random& random() { return untyped.random(); }

  /// The move that a choice stands for. Throws std::invalid_argument if the arena would not accept it.
  typename Game::Move chosen(const TypedChoice<Game>& choice) const {
    typename Game::MoveMessage message;
    message.ParseFromString(choice.untyped().chosen(untyped));
    return Game::move(message);
  }
};

/// Plays one match of the game.
template <class Game>
class TypedBot {
 public:
  virtual ~TypedBot() = default;
  virtual TypedChoice<Game> move(TypedAsk<Game>& ask) = 0;
  virtual void ended(const End&) {}
};

namespace detail {

/// The values of a repeated field. Those of enums are numbers in it.
template <class T, class Repeated>
std::vector<T> list(const Repeated& repeated) {
  std::vector<T> all;
  for (const auto& each : repeated) {
    all.push_back(static_cast<T>(each));
  }
  return all;
}

template <class Game>
class Untyped final : public Bot {
 public:
  explicit Untyped(std::unique_ptr<TypedBot<Game>> bot) : bot_(std::move(bot)) {}
  Choice move(Ask& ask) override {
    TypedAsk<Game> typed(ask);
    return bot_->move(typed).untyped();
  }
  void ended(const End& end) override { bot_->ended(end); }

 private:
  std::unique_ptr<TypedBot<Game>> bot_;
};

template <class Game, class F>
class TypedFunction final : public TypedBot<Game> {
 public:
  explicit TypedFunction(F move) : move_(std::move(move)) {}
  TypedChoice<Game> move(TypedAsk<Game>& ask) override { return move_(ask); }

 private:
  F move_;
};

template <class Game, class F>
Player typed_player(std::string name, F make) {
  Player made;
  made.name = std::move(name);
  made.games = games_of(Game::family);
  made.bot = [make](const Match& match) -> std::unique_ptr<Bot> {
    if constexpr (std::is_invocable_v<F, const Match&>) {
      return std::make_unique<Untyped<Game>>(make(match));
    } else {
      return std::make_unique<Untyped<Game>>(std::make_unique<TypedFunction<Game, F>>(make));
    }
  };
  return made;
}

template <class Game>
TypedAsk<Game> ask_for_test(typename Game::View view, const std::vector<typename Game::Move>& moves) {
  typename Game::AskMessage body;
  *body.mutable_view() = std::move(view);
  for (const auto& move : moves) {
    *body.add_moves() = Game::message(move);
  }
  body.set_moves_complete(true);
  return TypedAsk<Game>(Ask::for_test(games_of(Game::family).front(), Game::field, body.SerializeAsString()));
}

}  // namespace detail
}  // namespace cardarena
