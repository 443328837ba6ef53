#include "outbox.hpp"

#include <algorithm>
#include <iterator>

namespace cardarena::detail {

Outbox::Outbox(std::chrono::nanoseconds max_gather, std::chrono::nanoseconds quick_choice)
    : max_gather_(max_gather), quick_choice_(quick_choice) {}

void Outbox::set_limits(const v1::Limits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

void Outbox::put(std::vector<v1::BotMessage> messages) {
  const std::lock_guard lock(mutex_);
  std::move(messages.begin(), messages.end(), std::back_inserter(messages_));
  changed_.notify_one();
}

void Outbox::put_answers(std::vector<v1::Answer> answers) {
  const std::lock_guard lock(mutex_);
  std::move(answers.begin(), answers.end(), std::back_inserter(answers_));
  changed_.notify_one();
}

void Outbox::set_asks(int queued, int taken) {
  const std::lock_guard lock(mutex_);
  if (taken > taken_) {
    last_taken_ = Clock::now();
  }
  queued_ = queued;
  taken_ = taken;
  if (queued == 0) {
    changed_.notify_one();
  }
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

Clock::time_point Outbox::gathers_until(Clock::time_point began) const {
  if (queued_ > 0) {
    return began + max_gather_;
  }
  return taken_ == 0 ? began : std::min(began + max_gather_, last_taken_ + quick_choice_);
}

std::vector<v1::BotMessage> Outbox::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !messages_.empty() || !answers_.empty(); });
  const auto began = Clock::now();
  for (auto until = gathers_until(began); !closed_ && Clock::now() < until; until = gathers_until(began)) {
    changed_.wait_until(lock, until);
  }
  if (closed_) {
    return {};
  }
  std::vector<v1::BotMessage> all = std::move(messages_);
  frames(all, answers_.begin(), answers_.end());
  messages_.clear();
  answers_.clear();
  return all;
}

/// Adds answers in as few messages as the arena's limits allow.
void Outbox::frames(std::vector<v1::BotMessage>& all, std::vector<v1::Answer>::const_iterator first,
                    std::vector<v1::Answer>::const_iterator last) const {
  const auto count = last - first;
  if (count == 0) {
    return;
  }
  if (limits_.max_answers() > 0 && count > limits_.max_answers()) {
    frames(all, first, first + limits_.max_answers());
    frames(all, first + limits_.max_answers(), last);
    return;
  }
  v1::BotMessage message;
  for (auto each = first; each != last; ++each) {
    *message.mutable_answers()->add_answers() = *each;
  }
  const std::size_t size = message.ByteSizeLong();
  if (limits_.max_message_bytes() == 0 || size <= limits_.max_message_bytes()) {
    all.push_back(std::move(message));
  } else if (count > 1) {
    frames(all, first, first + count / 2);
    frames(all, first + count / 2, last);
  } else {
    auto& answer = *all.emplace_back().mutable_answers()->add_answers();
    answer.set_ask_id(first->ask_id());
    answer.set_failed(true);
    answer.set_note("error: the answer has " + std::to_string(size) + " bytes, the limit is " +
                    std::to_string(limits_.max_message_bytes()));
  }
}

}  // namespace cardarena::detail
