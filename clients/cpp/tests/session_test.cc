// The session, the outbox, the runner of bots and the times between streams: what the conformance kit cannot
// see.

#include <doctest/doctest.h>
#include <grpc/status.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "../src/bot_runner.hpp"
#include "../src/redial.hpp"

using namespace cardarena;
using namespace cardarena::detail;

namespace {

constexpr int jam_field = 20;

/// The bytes of an ask of any game: events and moves without content.
std::string body(int moves, bool complete, int events = 0) {
  std::string bytes;
  for (int at = 0; at < events; ++at) {
    bytes += {'\x12', '\x02', '\x10', static_cast<char>(at + 1)};
  }
  for (int at = 0; at < moves; ++at) {
    bytes += {'\x1a', '\x02', '\x08', static_cast<char>(at + 1)};
  }
  return complete ? bytes + std::string{'\x20', '\x01'} : bytes;
}

v1::ArenaMessage welcome() {
  v1::ArenaMessage message;
  message.mutable_welcome()->set_epoch(1);
  message.mutable_welcome()->add_matches()->set_match(1);
  return message;
}

v1::ArenaMessage ask(std::uint64_t id, const std::string& bytes, int played_for_at = -1) {
  v1::ArenaMessage message;
  auto& made = *message.mutable_asks()->add_asks();
  made.set_ask_id(id);
  made.set_match(1);
  made.set_jam(bytes);
  if (played_for_at >= 0) {
    made.add_played_for()->set_events_before(static_cast<std::uint32_t>(played_for_at));
  }
  return message;
}

struct Played {
  explicit Played(bool ask_forced = false)
      : session({}, ask_forced, std::nullopt, [this](BotTask task) { tasks.push_back(std::move(task)); }) {
    session.stream_opened(out);
    session.receive(welcome(), Clock::now());
    out->next();  // hello
  }
  AskState& asked(std::size_t at) { return *std::get<Asked>(tasks.at(at)).ask; }

  std::vector<BotTask> tasks;
  std::shared_ptr<Outbox> out = std::make_shared<Outbox>();
  Session session;
};

v1::Answer answer(std::uint64_t id) {
  v1::Answer made;
  made.set_ask_id(id);
  made.set_index(1);
  return made;
}

}  // namespace

TEST_CASE("a single legal move is answered by the SDK, unless the player asks for it") {
  Played by_sdk;
  by_sdk.session.receive(ask(7, body(1, true)), Clock::now());
  CHECK(by_sdk.tasks.size() == 1);  // the start of the match
  CHECK(by_sdk.out->next().at(0).answers().answers(0).ask_id() == 7);
  by_sdk.session.receive(ask(8, body(1, false)), Clock::now());
  CHECK(by_sdk.tasks.size() == 2);
  Played by_bot(true);
  by_bot.session.receive(ask(7, body(1, true)), Clock::now());
  CHECK(by_bot.tasks.size() == 2);
}

TEST_CASE("events of an ask that the bot did not receive come with the next, and positions are shifted") {
  Played played;
  played.session.receive(ask(7, body(2, true, 2)), Clock::now());
  played.session.receive(ask(8, body(2, true, 1), 1), Clock::now());
  CHECK_FALSE(played.session.deliver(played.asked(1), Clock::now()));  // the next ask has settled it
  CHECK(played.session.deliver(played.asked(2), Clock::now()));
  const Ask second(std::get<Asked>(played.tasks.at(2)).ask);
  CHECK(second.events().size() == 3);
  CHECK(second.played_for().at(0).events_before == 3);
}

TEST_CASE("an answer is repeated with its ask, and the bot is not called again") {
  Played played;
  played.session.receive(ask(7, body(2, true)), Clock::now());
  REQUIRE(played.session.deliver(played.asked(1), Clock::now()));
  played.session.answer({answer(7)}, Clock::now());
  CHECK(played.out->next().at(0).answers().answers_size() == 1);
  played.session.receive(ask(7, body(2, true)), Clock::now());
  CHECK(played.out->next().at(0).answers().answers(0).ask_id() == 7);
  CHECK(played.tasks.size() == 2);
}

TEST_CASE("waits in the own queue and on the network are noted") {
  Played played(true);
  auto now = Clock::now();
  std::vector<std::string> notes;
  for (std::uint64_t id = 1; id < 7; ++id) {
    auto next = ask(id, body(2, true));
    next.mutable_asks()->mutable_asks(0)->mutable_clock()->set_last_round_trip_ms(
        250);  // 200 ms are the bot's
    played.session.receive(next, now);
    now += std::chrono::milliseconds(50);
    REQUIRE(played.session.deliver(played.asked(id), now));
    now += std::chrono::milliseconds(150);
    played.session.answer({answer(id)}, now);
    notes.push_back(played.out->next().at(0).answers().answers(0).note());
  }
  const std::string note = "times: 4 asks waited 0.200 s in the own queue; 4 took 0.200 s on the network";
  CHECK(notes == std::vector<std::string>{"", "", "", "", note, ""});
}

TEST_CASE("parts of an ask are found without knowing its game") {
  v1::Ask message;
  message.set_jam(std::string{'\x0a', '\x01', '\0'} + body(2, true, 3) +
                  "\x28\x05");  // a view, and a field of a newer arena
  const AskBody found = body_of(message);
  CHECK(found.field == jam_field);
  CHECK(found.events.size() == 3);
  CHECK(found.moves.size() == 2);
  CHECK(found.moves_complete);
  message.set_jam("\x1a\x7f");  // a move that is longer than the ask
  CHECK(body_of(message).moves.empty());
}

TEST_CASE("a note is truncated by code points") {
  const std::string card = "\U0001F0A1";
  CHECK(truncated(card + card, 2) == card + card);
  CHECK(truncated("abcd", 3) == "ab\u2026");
  CHECK(truncated("a\xED\xA0\xBD", 9) == "a???");
  CHECK(truncated("\xF0\x9F\x98", 9) == "???");
  CHECK(truncated("\xC3\xA4\xE2\x82\xAC", 9) == "\u00e4\u20ac");
}

TEST_CASE("answers go in as few messages as the limits allow") {
  Outbox out;
  v1::Limits limits;
  limits.set_max_answers(2);
  limits.set_max_message_bytes(40);
  out.set_limits(limits);
  v1::Answer long_answer = answer(9);
  long_answer.set_note(std::string(50, 'x'));
  out.put_answers({answer(1), answer(2), answer(3), long_answer});
  const auto messages = out.next();
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].answers().answers_size() == 2);
  CHECK(messages[1].answers().answers(0).ask_id() == 3);
  CHECK(messages[2].answers().answers(0).failed());
  CHECK(messages[2].answers().answers(0).note() == "error: the answer has 60 bytes, the limit is 40");
}

TEST_CASE("answers wait for queued asks and quick choices, and not for a bot that thinks") {
  using std::chrono::hours;
  Outbox patient(hours(1), hours(1));
  patient.set_asks(1, 0);
  patient.put_answers({answer(1)});
  auto first = std::async(std::launch::async, [&] { return patient.next(); });
  patient.set_asks(0, 1);
  patient.put_answers({answer(2)});
  patient.set_asks(0, 0);
  CHECK(first.get().at(0).answers().answers_size() == 2);
  Outbox thinking(hours(1), std::chrono::nanoseconds(0));
  thinking.set_asks(0, 1);
  thinking.put_answers({answer(1)});
  CHECK(thinking.next().size() == 1);
  thinking.close();
  CHECK(thinking.next().empty());
}

/// The runner of a player's bot, with a session whose stream is open.
class Running {
 public:
  Running(const Player& player, Logger logger)
      : runner_(std::make_shared<BotRunner>(player, std::move(logger))),
        session_(std::make_shared<Session>(v1::Hello(), false, std::nullopt,
                                           [this](BotTask task) { runner_->accept(std::move(task)); })) {
    runner_->start(session_);
    session_->stream_opened(out_);
    session_->receive(welcome(), Clock::now());
    out_->next();  // hello
  }

  v1::Answer answer_to(std::uint32_t ask_id) {
    session_->receive(ask(ask_id, body(2, true)), Clock::now());
    return out_->next().at(0).answers().answers(0);
  }

  void finish() {
    session_->finish();
    runner_->finish(true);
  }

 private:
  std::shared_ptr<BotRunner> runner_;
  std::shared_ptr<Session> session_;
  std::shared_ptr<Outbox> out_ = std::make_shared<Outbox>();
};

TEST_CASE("an exception of the bot is an answer that failed, and each match has its own bot") {
  Player player;
  struct Failing final : Bot {
    Choice move(Ask& ask) override {
      if (ask.id() == 8) {
        throw 8;  // anything may be thrown
      }
      throw std::runtime_error("a mistake");
    }
  };
  player.bot = [](const Match&) { return std::make_unique<Failing>(); };
  std::atomic<int> logged = 0;
  Running running(player, [&](Level, std::string_view) { ++logged; });
  const auto failed = running.answer_to(7);
  CHECK(failed.failed());
  CHECK(failed.note() == "error: a mistake");
  CHECK(running.answer_to(8).note() == "error: an exception that is no std::exception");
  running.finish();
  CHECK(logged == 2);
}

TEST_CASE("a batch bot must return a move for each ask") {
  struct Short final : BatchBot {
    std::vector<Choice> moves(std::vector<Ask>&) override { return {}; }
  };
  Player player;
  player.batch = std::make_shared<Short>();
  Running running(player, [](Level, std::string_view) {});
  CHECK(running.answer_to(7).note() == "error: the bot returned 0 moves for 1 asks");
  running.finish();
}

TEST_CASE("delays grow, and a bot that plays once gives up after ten seconds") {
  Clock::time_point now{};
  Redial redial("here", true, [&] { return now; }, [](Duration max) { return max; });
  StreamEnd lost;
  lost.code = GRPC_STATUS_UNAVAILABLE;
  CHECK(redial.after(lost).delay == std::chrono::milliseconds(200));
  CHECK(redial.after(lost).delay == std::chrono::milliseconds(400));
  lost.welcomed = true;
  lost.open_for = std::chrono::seconds(10);
  CHECK(redial.after(lost).delay == std::chrono::milliseconds(200));
  lost.welcomed = false;
  now += std::chrono::seconds(11);
  const Attempt over = redial.after(lost);
  REQUIRE(over.over);
  CHECK(over.over->exit_code() == 1);
}
