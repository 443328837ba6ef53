#include "session.hpp"

#include <algorithm>

namespace cardarena::detail {

namespace {

constexpr std::size_t default_note_chars = 200;
/// The maximum number of remembered ends of matches. An arena repeats at most the last 64.
constexpr std::size_t max_remembered_ends = 1024;

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) {
    all += all.empty() ? line : "; " + line;
  }
  return all;
}

std::string seconds_of(std::uint32_t ms) {
  std::string text = std::to_string(ms / 1000.0);
  text.erase(text.find_last_not_of('0') + 1);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

std::string refusal_line(const v1::Refusal& refusal) {
  const std::string deal =
      refusal.deal_context().empty() ? "" : "deal-set " + deal_name(refusal.deal_context()) + ": ";
  return deal + "refused (" + lower_name(v1::RefusalReason_Name(refusal.reason()), "REFUSAL_REASON_") +
         "): " + refusal.text();
}

End end_of(const v1::MatchEnd& message, const Match& match, AskEvents undelivered) {
  End end;
  end.match = match;
  end.ending = message.ending() == v1::ENDING_UNSPECIFIED
                   ? "missed"
                   : lower_name(v1::Ending_Name(message.ending()), "ENDING_");
  end.scores.assign(message.scores().begin(), message.scores().end());
  end.places.assign(message.places().begin(), message.places().end());
  end.events = std::move(undelivered.events);
  for (auto& event : bytes_of_events(message)) {
    end.events.push_back(std::move(event));
  }
  end.replay_id = message.replay_id();
  return end;
}

}  // namespace

Session::Session(v1::Hello hello, bool ask_forced, std::optional<Deals> deals,
                 std::function<void(BotTask)> tasks)
    : hello_(std::move(hello)), ask_forced_(ask_forced), deals_(std::move(deals)), tasks_(std::move(tasks)) {}

void Session::stream_opened(std::shared_ptr<Outbox> out) {
  const std::lock_guard lock(mutex_);
  welcomed_ = false;
  out_ = std::move(out);
  if (deals_) {
    deals_->on_stream();
  }
  v1::BotMessage first;
  *first.mutable_hello() = hello_;
  out_->put({std::move(first)});
  out_->set_asks(queued_asks_, taken_asks_);
}

bool Session::stream_lost() {
  const std::lock_guard lock(mutex_);
  welcomed_ = false;
  out_ = nullptr;
  return draining_;
}

void Session::finish() {
  const std::lock_guard lock(mutex_);
  Received ignored;
  missed_all(ignored);
}

std::vector<std::string> Session::lies() const {
  const std::lock_guard lock(mutex_);
  return deals_ ? deals_->lies() : std::vector<std::string>{};
}

std::vector<std::string> Session::games() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> games;
  for (const auto& [number, seat] : seats_) {
    games.push_back(seat.match->game);
  }
  return games;
}

Received Session::receive(const v1::ArenaMessage& message, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Received received;
  switch (message.body_case()) {
    case v1::ArenaMessage::kAsks:
      on_asks(received, message.asks().asks(), now);
      break;
    case v1::ArenaMessage::kAskClosed:
      on_ask_closed(received, message.ask_closed());
      break;
    case v1::ArenaMessage::kMatchStart:
      on_match_start(received, message.match_start());
      break;
    case v1::ArenaMessage::kMatchEnd:
      on_match_end(received, message.match_end());
      break;
    case v1::ArenaMessage::kWelcome:
      on_welcome(received, message.welcome(), now);
      break;
    case v1::ArenaMessage::kRefusal:
      received.warnings.push_back(refusal_line(message.refusal()));
      break;
    case v1::ArenaMessage::kDrain:
      draining_ = true;
      received.warnings.push_back("the arena shuts down in " + seconds_of(message.drain().deadline_ms()) +
                                  " s; running matches continue");
      break;
    case v1::ArenaMessage::kRedirect:
      received.redirect = message.redirect().endpoint();
      break;
    case v1::ArenaMessage::kDealOpen:
      if (deals_) {
        react(received, deals_->on_open(message.deal_open(), now));
      }
      break;
    case v1::ArenaMessage::kDealTranscript:
      if (deals_) {
        react(received, deals_->on_transcript(message.deal_transcript(), now));
      }
      break;
    case v1::ArenaMessage::kDealClose:
      if (deals_) {
        react(received, deals_->on_close(message.deal_close()));
      }
      break;
    default:
      break;  // a message of a newer arena, unknown to this SDK
  }
  return received;
}

void Session::react(Received& received, Reaction reaction) {
  std::move(reaction.warnings.begin(), reaction.warnings.end(), std::back_inserter(received.warnings));
  if (out_ != nullptr && !reaction.send.empty()) {
    out_->put(std::move(reaction.send));
  }
}

// The bot runner calls these.

bool Session::deliver(AskState& ask, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const bool due = ask.open && !ask.delivered;
  if (due) {
    seats_.at(match_of_ask_.at(ask.message.ask_id())).times.delivered_at = now;
  }
  ask.delivered |= due;
  count_asks(-1, due ? 1 : 0);
  return due;
}

void Session::answer(std::vector<v1::Answer> answers, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::vector<v1::Answer> to_send;
  for (auto& answer : answers) {
    const auto match = match_of_ask_.find(answer.ask_id());
    if (match == match_of_ask_.end() || seats_.at(match->second).answer) {
      continue;
    }
    Seat& seat = seats_.at(match->second);
    if (seat.times.due && answer.note().empty()) {
      answer.set_note(seat.times.note());
    }
    seat.times.answered_at = now;
    seat.answer = with_short_note(std::move(answer));
    if (seat.ask->open) {
      to_send.push_back(*seat.answer);
      last_answered_ = welcomed_ ? std::optional(match->second) : std::nullopt;
    }
  }
  send(std::move(to_send));
  count_asks(0, -static_cast<int>(answers.size()));
}

v1::Answer Session::with_short_note(v1::Answer answer) const {
  const std::size_t max_chars = limits_.max_note_chars() > 0 ? limits_.max_note_chars() : default_note_chars;
  answer.set_note(truncated(answer.note(), max_chars));
  return answer;
}

void Session::send(std::vector<v1::Answer> answers) {
  if (welcomed_ && !answers.empty()) {
    out_->put_answers(std::move(answers));
  }
}

// Messages of the arena.

void Session::on_welcome(Received& received, const v1::Welcome& welcome, Clock::time_point now) {
  received.welcomed = true;
  if (welcome.contract() > contract) {
    received.refused = "the arena uses contract version " + std::to_string(welcome.contract()) +
                       ", this SDK supports version " + std::to_string(contract) + ": upgrade the SDK";
    return;
  }
  if (welcome.epoch() <= epoch_) {
    // The arena counts streams up. A lower number is of an arena that lost its state.
    missed_all(received);
    ended_.clear();
    ended_oldest_first_.clear();
  }
  epoch_ = welcome.epoch();
  welcomed_ = true;
  draining_ = false;
  limits_ = welcome.limits();
  out_->set_limits(limits_);

  std::set<std::uint32_t> listed;
  for (const auto& start : welcome.matches()) {
    listed.insert(start.match());
  }
  std::vector<std::uint32_t> known;
  for (const auto& [number, seat] : seats_) {
    known.push_back(number);
  }
  for (const auto number : known) {
    if (!listed.contains(number)) {
      missed(received, number);
    }
  }
  for (const auto& start : welcome.matches()) {
    if (!ended_.contains(start.match())) {
      on_match_start(received, start);
    }
  }
  std::set<std::uint64_t> still_open(welcome.later_asks().begin(), welcome.later_asks().end());
  for (const auto& ask : welcome.open_asks()) {
    still_open.insert(ask.ask_id());
  }
  for (auto& [number, seat] : seats_) {
    if (seat.ask != nullptr && !still_open.contains(seat.ask->message.ask_id())) {
      seat.ask->open = false;
    }
  }
  on_asks(received, welcome.open_asks(), now);
  std::vector<std::string> refused;
  for (const auto& game : welcome.games()) {
    if (game.refusal() != v1::GAME_REFUSAL_UNSPECIFIED) {
      refused.push_back(game.text());
      received.warnings.push_back("game refused: " + game.text());
    }
  }
  if (!refused.empty() && static_cast<int>(refused.size()) == welcome.games_size() &&
      welcome.matches().empty()) {
    received.refused = "the arena refused all games of this bot: " + joined_lines(refused);
  }
}

void Session::on_match_start(Received& received, const v1::MatchStart& start) {
  const std::string bytes = start.SerializeAsString();
  if (const auto known = seats_.find(start.match()); known != seats_.end() && known->second.start != bytes) {
    missed(received, start.match());
  }
  if (!seats_.contains(start.match())) {
    Seat& seat = seats_[start.match()];
    seat.match = std::make_shared<const Match>(match_of(start));
    seat.start = bytes;
    tasks_(Started{seat.match});
  }
  if (deals_) {
    react(received, deals_->on_match_start(start));
  }
}

template <class Asks>
void Session::on_asks(Received& received, const Asks& asks, Clock::time_point now) {
  std::vector<v1::Answer> answers;
  for (const v1::Ask& message : asks) {
    const AskBody body = body_of(message);
    if (deals_ && body.field != 0) {
      react(received, deals_->on_ask(message, body.bytes));
    }
    const auto found = seats_.find(message.match());
    if (found == seats_.end()) {
      received.warnings.push_back("ignored an ask of match " + std::to_string(message.match()) +
                                  ", which did not start");
      continue;
    }
    Seat& seat = found->second;
    if (seat.ask != nullptr && seat.ask->message.ask_id() == message.ask_id()) {
      reopen(seat);
      if (seat.answer) {
        answers.push_back(*seat.answer);
        last_answered_.reset();  // its round trip has the time without a stream
      }
    } else if (body.moves.empty()) {
      answers.push_back(with_short_note(
          failed_answer(message.ask_id(), "this version of the SDK does not support " + seat.match->game)));
    } else {
      on_new_ask(seat, std::make_shared<AskState>(message, seat.match, seat.undelivered(), now), now);
      if (seat.answer) {
        last_answered_ = message.match();
        answers.push_back(*seat.answer);
      }
    }
  }
  send(std::move(answers));
}

/// Queues the ask, or answers it if there is only one legal move.
void Session::on_new_ask(Seat& seat, AskPointer ask, Clock::time_point now) {
  const bool is_known = last_answered_ == seat.match->number;
  seat.times.arrived(now,
                     std::chrono::milliseconds(is_known ? ask->message.clock().last_round_trip_ms() : 0));
  forget_ask(seat);
  seat.ask = ask;
  seat.answer.reset();
  match_of_ask_[ask->message.ask_id()] = seat.match->number;
  if (!ask_forced_ && ask->forced()) {
    seat.answer.emplace().set_ask_id(ask->message.ask_id());
    seat.answer->set_index(0);
  } else {
    enqueue(std::move(ask));
  }
}

/// Queues an ask for the bot runner, which calls deliver for each.
void Session::enqueue(AskPointer ask) {
  count_asks(1, 0);
  tasks_(Asked{std::move(ask)});
}

void Session::count_asks(int more_queued, int more_taken) {
  queued_asks_ += more_queued;
  taken_asks_ += more_taken;
  if (out_ != nullptr) {
    out_->set_asks(queued_asks_, taken_asks_);
  }
}

/// Opens the last ask of a match again, because the arena repeated it.
void Session::reopen(Seat& seat) {
  if (!seat.ask->open) {
    seat.ask->open = true;
    if (!seat.answer && !seat.ask->delivered) {
      enqueue(seat.ask);
    }
  }
}

void Session::on_ask_closed(Received& received, const v1::AskClosed& closed) {
  std::string where;
  if (const auto match = match_of_ask_.find(closed.ask_id()); match != match_of_ask_.end()) {
    Seat& seat = seats_.at(match->second);
    seat.ask->open = false;
    where = " in match " + std::to_string(seat.match->number) + " (" + seat.match->game + ")";
  }
  if (closed.fault() != v1::FAULT_KIND_UNSPECIFIED) {
    received.warnings.push_back("fault" + where + ": " +
                                lower_name(v1::FaultKind_Name(closed.fault()), "FAULT_KIND_") + ": " +
                                closed.reason());
  }
}

void Session::on_match_end(Received& received, const v1::MatchEnd& message) {
  if (!seats_.contains(message.match())) {
    return;
  }
  end(received, message);
  ended_.insert(message.match());
  ended_oldest_first_.push_back(message.match());
  if (ended_oldest_first_.size() > max_remembered_ends) {
    ended_.erase(ended_oldest_first_.front());
    ended_oldest_first_.pop_front();
  }
}

void Session::missed(Received& received, std::uint32_t match) {
  v1::MatchEnd message;
  message.set_match(match);
  end(received, message);
}

void Session::missed_all(Received& received) {
  while (!seats_.empty()) {
    missed(received, seats_.begin()->first);
  }
}

void Session::end(Received& received, const v1::MatchEnd& message) {
  const auto found = seats_.find(message.match());
  Seat seat = std::move(found->second);
  Ended task{seat.match, end_of(message, *seat.match, seat.undelivered())};
  forget_ask(seat);
  seats_.erase(found);
  tasks_(std::move(task));
  if (deals_) {
    react(received, deals_->on_match_end(message));
  }
}

void Session::forget_ask(Seat& seat) {
  if (seat.ask != nullptr) {
    seat.ask->open = false;
    match_of_ask_.erase(seat.ask->message.ask_id());
  }
}

}  // namespace cardarena::detail
