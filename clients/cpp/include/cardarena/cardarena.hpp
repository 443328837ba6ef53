// The SDK of Card Arena for C++: bots, asks, choices, and how they play at an arena.
//
// This header needs the standard library alone. Each family of games has a header of its own, such as
// cardarena/jam.hpp, with its moves as std::variant.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cardarena {

/// The version of this SDK.
inline constexpr std::string_view version = "1.0.0-rc1";

namespace detail {
struct AskState;
}

/// The value of a game option.
using OptionValue = std::variant<std::int64_t, std::string, bool>;

/// A match, as the arena announced it.
struct Match {
  /// The number by which the arena identifies this bot's seat at the match.
  std::uint32_t number = 0;
  /// The game's id, such as jam.
  std::string game;
  /// The bot's seat, from 0.
  int seat = 0;
  /// The names of all players, by seat.
  std::vector<std::string> players;
  /// The game's options that have an effect, by name.
  std::map<std::string, OptionValue> options;
  /// The match's id, the same for all seats; also the id of its replay.
  std::string match_id;
  /// 16 secret bytes from which random numbers follow; empty if the arena sent none.
  std::string dice;
};

/// A move that the arena played in place of a bot at fault.
struct PlayedFor {
  int seat = 0;
  /// The kind of the fault, such as timeout.
  std::string kind;
  /// Why; only of the bot's own seat.
  std::string reason;
  /// The number of events before it.
  std::size_t events_before = 0;
};

/// Random numbers of one decision: the Mersenne twister of 64 bits, seeded with the ask's seed. The same
/// seed gives the same numbers with every compiler.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(const std::array<std::uint8_t, 32>& seed);

  static constexpr result_type min() { return std::mt19937_64::min(); }
  static constexpr result_type max() { return std::mt19937_64::max(); }
  result_type operator()() { return engine_(); }

  /// A number from 0 to below `end`, each with the same chance. `end` is at least 1.
  std::size_t below(std::size_t end);

 private:
  std::mt19937_64 engine_;
};

/// One decision of a seat, with everything that the seat can see. Copies are of the same ask.
class Ask {
 public:
  explicit Ask(std::shared_ptr<detail::AskState> state);

  /// An ask for the test of a bot: of seat 0, with a minute of time. `field` is the number of the game's
  /// field in oneof game, and `body` the bytes of its message. The headers of the games have an ask of
  /// their types.
  static Ask for_test(std::string game, int field, std::string body);

  const Match& match() const;
  /// The number by which the arena identifies this ask.
  std::uint64_t id() const;
  /// The number of offered moves, at least 1. If not moves_complete(), the rules allow more than these.
  std::size_t move_count() const;
  bool moves_complete() const;
  /// The bytes of an offered move, a message of the game.
  std::string_view move_at(std::size_t index) const;
  /// The number of the game's field in oneof game, and the bytes of its message.
  int field() const;
  std::string_view body() const;
  /// Moves and events in notation, if the player has want_text.
  std::vector<std::string> move_texts() const;
  std::vector<std::string> event_texts() const;
  /// What happened since the bot last received an ask of this match, oldest first: messages of the game.
  std::vector<std::string> events() const;
  /// The moves among the events that the arena played in place of a bot at fault.
  std::vector<PlayedFor> played_for() const;
  /// The number of the seat's decision in this match, from 1.
  std::uint32_t decision() const;
  /// The remaining time of the move and the bank, as measured since the ask arrived.
  std::chrono::milliseconds time_left() const;
  /// Whether the arena still waits for the answer. It changes while the bot thinks.
  bool is_open() const;
  /// What the random numbers of this decision are seeded with: 32 secret bytes, the same in every language.
  std::array<std::uint8_t, 32> seed() const;
  /// The random numbers of this decision. A bot that takes all its chance from here plays the same again if
  /// dice and asks are the same.
  Random& random();

 private:
  friend struct detail::AskState;
  friend class Choice;
  std::shared_ptr<detail::AskState> state_;
};

/// A bot's answer to an ask: an offered move, or a move of the game; and an optional note.
class Choice {
 public:
  /// Chooses an offered move by its index, from 0.
  static Choice index(std::size_t index);
  /// Chooses a move by the bytes of its message, offered or not. `field` is that of its game.
  static Choice move(int field, std::string bytes);

  /// Adds a note, which only the bot's owner can read. A note over the arena's limit is truncated.
  Choice with_note(std::string note) const;

  /// The bytes of the move that the choice stands for.
  ///
  /// Throws std::invalid_argument if the arena would not accept it: if the index is out of range, or the
  /// move is of another game or not one of all legal moves.
  std::string chosen(const Ask& ask) const;

  const std::string& note() const { return note_; }
  /// The index of the offered move; nothing if the move is not offered. Throws as chosen() does, but accepts
  /// any move of the game.
  std::optional<std::size_t> offered(const Ask& ask) const;
  /// The bytes of a chosen move; empty if an index was chosen.
  const std::string& bytes() const { return bytes_; }

 private:
  std::size_t index_ = 0;
  int field_ = 0;
  std::string bytes_;
  std::string note_;
};

/// The end of a match.
struct End {
  Match match;
  /// completed, forfeit or aborted; missed if it ended while the bot was disconnected: its result is then
  /// unknown.
  std::string ending;
  /// Scores by seat, in the game's unit; empty if there are none.
  std::vector<std::int32_t> scores;
  /// Places by seat, from 1.
  std::vector<std::uint32_t> places;
  /// What happened since the bot last received an ask, oldest first: messages of the game.
  std::vector<std::string> events;
  /// The id of the replay.
  std::string replay_id;
};

/// Plays one match. Each match has a bot and a thread of its own, so members belong to that match.
class Bot {
 public:
  virtual ~Bot() = default;
  /// Chooses a move. An exception loses the move, not the match: the SDK logs it with the ask, answers that
  /// the bot failed, and says so in the note.
  virtual Choice move(Ask& ask) = 0;
  /// Called once when the match ends, also if the bot missed the end.
  virtual void ended(const End&) {}
};

/// Chooses the moves of many matches at a time, for example with a neural network.
class BatchBot {
 public:
  virtual ~BatchBot() = default;
  virtual void started(const Match&) {}
  /// Chooses a move for each ask, in the same order. An exception loses all these moves.
  virtual std::vector<Choice> moves(std::vector<Ask>& asks) = 0;
  virtual void ended(const End&) {}
};

/// Describes a bot to the arena, and how its matches are played.
struct Player {
  /// The name of a bot that plays as a guest; by default that of the program.
  std::string name;
  /// The ids of the games that the bot plays; by default all games that this SDK supports.
  std::vector<std::string> games;
  /// Makes the bot of a match. The thread of the match calls it and the bot.
  std::function<std::unique_ptr<Bot>(const Match&)> bot;
  /// Plays all matches, instead of the bots that `bot` makes.
  std::shared_ptr<BatchBot> batch;
  /// The bot's version, in any format.
  std::string bot_version;
  /// The most matches and open asks at a time.
  std::uint32_t max_matches = 64;
  std::uint32_t max_open_asks = 64;
  /// Calls the bot also if there is only one legal move. By default the SDK answers these asks.
  bool ask_forced = false;
  /// Requests moves and events in notation as well.
  bool want_text = false;
  /// Takes part in fair deals: adds entropy and checks the deals.
  bool adds_entropy = true;
};

/// A bot without state, as a function of the ask.
template <class F>
class FunctionBot final : public Bot {
 public:
  explicit FunctionBot(F move) : move_(std::move(move)) {}
  Choice move(Ask& ask) override { return move_(ask); }

 private:
  F move_;
};

/// A player whose bot is a function of the ask, as `Choice(Ask&)`.
template <class F>
Player player(std::string name, F move) {
  Player made;
  made.name = std::move(name);
  made.bot = [move](const Match&) { return std::make_unique<FunctionBot<F>>(move); };
  return made;
}

/// A line for the author.
enum class Level { info, warning, error };
using Logger = std::function<void(Level, std::string_view)>;

/// Where to play, and as whom. An empty member is read from the environment variable in its comment.
struct Options {
  /// HOST:PORT, https://HOST:PORT or unix:PATH. CARDARENA_ADDRESS, else localhost:7654.
  std::string address;
  /// The bot's token. CARDARENA_TOKEN, else guest:NAME with the player's name.
  std::string token;
  /// The folder where receipts of fair deals are stored, one for each bot. CARDARENA_RECEIPTS.
  std::string receipts;
  /// Stops when the arena closes the stream in order, and after ten seconds without a connection. Also set
  /// by CARDARENA_ONCE=1.
  bool once = false;
  /// Uses TLS also for an address without https://.
  bool tls = false;
  /// Root certificates for the arena's certificate, PEM. CARDARENA_CA.
  std::string ca_file;
  /// The bot's certificate and its key, PEM. CARDARENA_CLIENT_CERT and CARDARENA_CLIENT_KEY.
  std::string client_cert;
  std::string client_key;
  /// Allows sending the token to another machine in plain text.
  bool insecure = false;
  /// Receives the log; by default stderr.
  Logger logger;
};

/// How play ended.
enum class Outcome { finished, unreachable, refused, misconfigured, lied, interrupted };

struct PlayResult {
  Outcome outcome = Outcome::finished;
  /// Why, in a sentence; empty if play ended in order.
  std::string reason;
  /// What the arena lied about, one sentence each.
  std::vector<std::string> lies;

  /// The exit code of a program: 0, 1 unreachable, 2 refused or misconfigured, 3 lied, 130 interrupted.
  int exit_code() const;
};

/// Plays until the arena ends play, or a stop is requested. It throws nothing. After a stop it does not wait
/// for bots that are choosing a move.
PlayResult play(const Player& player, const Options& options = {}, std::stop_token stop = {});

/// Plays as a program: parses the command line, logs to stderr, stops at SIGINT, and returns the exit code.
int run(int argc, char** argv, const Player& player);

/// The ids of all games that this SDK supports.
std::vector<std::string> all_games();
/// The ids of a family's games. The name is that of its field in oneof game.
std::vector<std::string> games_of(std::string_view family);

/// A fault of a seat in a local match.
struct LocalFault {
  int seat = 0;
  std::string kind;
  std::string reason;
};

/// The result of a match that the engine played on this machine.
struct LocalMatch {
  /// completed, forfeit or aborted.
  std::string ending;
  std::vector<int> scores;
  std::vector<LocalFault> faults;
  /// The path of the match's replay.
  std::string replay;
};

/// Whether this machine has the engine: the command arena in PATH.
bool has_engine();

/// Plays a match between programs of this machine, without a server: it runs `arena play` of the engine as a
/// child process. The bots are commands, by seat, such as ./mybot. Flags are those of `arena play --help`.
///
/// Throws std::runtime_error with what the engine said if it could not play, or if there is no engine.
LocalMatch play_local(const std::string& game, const std::vector<std::string>& bots,
                      const std::vector<std::string>& flags = {});

}  // namespace cardarena
