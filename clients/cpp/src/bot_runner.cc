#include "bot_runner.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace cardarena::detail {

namespace {

constexpr std::size_t max_logged_chars = 2000;

/// Calls the author's code, and returns what went wrong; empty if nothing did.
template <class F>
std::string error_of(F call) {
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return *error.what() == '\0' ? "an exception without a text" : error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

void BotRunner::Queue::put(BotTask task) {
  const std::lock_guard lock(mutex);
  tasks.push_back(std::move(task));
  filled.notify_one();
}

void BotRunner::Queue::close() {
  const std::lock_guard lock(mutex);
  closed = true;
  filled.notify_one();
}

std::deque<BotTask> BotRunner::Queue::take() {
  std::unique_lock lock(mutex);
  filled.wait(lock, [this] { return closed || !tasks.empty(); });
  return std::exchange(tasks, {});
}

BotRunner::BotRunner(Player player, Logger log) : player_(std::move(player)), log_(std::move(log)) {}

void BotRunner::start(std::shared_ptr<Session> session) {
  session_ = std::move(session);
  if (player_.batch) {
    batch_queue_ = std::make_shared<Queue>();
    start_thread(&BotRunner::play_batches, batch_queue_);
  }
}

void BotRunner::accept(BotTask task) {
  if (batch_queue_) {
    batch_queue_->put(std::move(task));
    return;
  }
  if (const auto* started = std::get_if<Started>(&task)) {
    auto queue = queues_[started->match.get()] = std::make_shared<Queue>();
    queue->put(std::move(task));
    start_thread(&BotRunner::play_match, std::move(queue));
  } else if (auto* asked = std::get_if<Asked>(&task)) {
    queues_.at(asked->ask->match.get())->put(std::move(task));
  } else {
    const auto queue = queues_.extract(std::get<Ended>(task).match.get());
    queue.mapped()->put(std::move(task));
  }
}

void BotRunner::start_thread(std::function<void(BotRunner&, Queue&)> work, std::shared_ptr<Queue> queue) {
  std::erase_if(running_, [](Running& each) {
    if (*each.over) {
      each.thread.join();
      return true;
    }
    return false;
  });
  auto over = std::make_shared<std::atomic<bool>>(false);
  std::thread thread([self = shared_from_this(), work = std::move(work), queue = std::move(queue), over] {
    work(*self, *queue);
    *over = true;
  });
  running_.push_back({std::move(thread), std::move(over)});
}

void BotRunner::finish(bool waits) {
  if (batch_queue_) {
    batch_queue_->close();
  }
  for (auto& each : running_) {
    if (waits) {
      each.thread.join();
    } else {
      each.thread.detach();
    }
  }
  running_.clear();
}

void BotRunner::play_match(Queue& queue) {
  std::unique_ptr<Bot> bot;
  std::string make_error;
  while (true) {
    for (auto& task : queue.take()) {
      if (auto* asked = std::get_if<Asked>(&task)) {
        choose(*asked->ask, Ask(asked->ask), bot.get(), make_error);
      } else if (auto* started = std::get_if<Started>(&task)) {
        make_error = error_of([&] {
          bot = player_.bot(*started->match);
          if (bot == nullptr) {
            throw std::runtime_error("the player made no bot");
          }
        });
        log_failure("making the bot of match " + std::to_string(started->match->number) + " failed",
                    make_error);
      } else {
        const End& end = std::get<Ended>(task).end;
        if (bot != nullptr) {
          log_failure("the bot failed at the end of match " + std::to_string(end.match.number),
                      error_of([&] { bot->ended(end); }));
        }
        log_failure("the bot failed when it was destroyed", error_of([&] { bot.reset(); }));
        return;
      }
    }
  }
}

void BotRunner::choose(AskState& state, Ask ask, Bot* bot, const std::string& make_error) {
  if (!session_->deliver(state, Clock::now())) {
    return;
  }
  v1::Answer answer;
  if (bot == nullptr) {
    answer = failed_answer(ask.id(), make_error);
  } else {
    const std::string error = error_of([&] { answer = answer_of(bot->move(ask), ask); });
    if (!error.empty()) {
      answer = log_and_fail(ask, state, error);
    }
  }
  session_->answer({std::move(answer)}, Clock::now());
}

v1::Answer BotRunner::log_and_fail(const Ask& ask, const AskState& state, const std::string& why) {
  log_failure("the bot failed at ask " + std::to_string(ask.id()) + " of match " +
                  std::to_string(ask.match().number) + " (" + ask.match().game +
                  "); the fallback is played; the ask was " +
                  state.message.ShortDebugString().substr(0, max_logged_chars),
              why);
  return failed_answer(ask.id(), why);
}

void BotRunner::log_failure(const std::string& what, const std::string& why) {
  if (!why.empty()) {
    log_(Level::error, what + ": " + why);
  }
}

// Batches.

void BotRunner::play_batches(Queue& queue) {
  while (true) {
    auto tasks = queue.take();
    if (tasks.empty()) {
      return;
    }
    std::vector<Ask> asks;
    for (auto& task : tasks) {
      if (auto* asked = std::get_if<Asked>(&task)) {
        if (session_->deliver(*asked->ask, Clock::now())) {
          asks.emplace_back(asked->ask);
        }
      } else if (auto* started = std::get_if<Started>(&task)) {
        log_failure("the bot failed at the start of a match",
                    error_of([&] { player_.batch->started(*started->match); }));
      } else {
        log_failure("the bot failed at the end of a match",
                    error_of([&] { player_.batch->ended(std::get<Ended>(task).end); }));
      }
    }
    if (!asks.empty()) {
      session_->answer(choose_all(asks), Clock::now());
    }
  }
}

std::vector<v1::Answer> BotRunner::choose_all(std::vector<Ask>& asks) {
  std::vector<Choice> choices;
  const std::string batch_error = error_of([&] {
    choices = player_.batch->moves(asks);
    if (choices.size() != asks.size()) {
      throw std::runtime_error("the bot returned " + std::to_string(choices.size()) + " moves for " +
                               std::to_string(asks.size()) + " asks");
    }
  });
  log_failure("the bot failed at a batch of " + std::to_string(asks.size()) + "; fallbacks are played",
              batch_error);
  std::vector<v1::Answer> answers;
  for (std::size_t at = 0; at < asks.size(); ++at) {
    std::string error = batch_error;
    if (error.empty()) {
      error = error_of([&] { answers.push_back(answer_of(choices[at], asks[at])); });
      log_failure("the bot failed at ask " + std::to_string(asks[at].id()) + "; the fallback is played",
                  error);
    }
    if (!error.empty()) {
      answers.push_back(failed_answer(asks[at].id(), error));
    }
  }
  return answers;
}

}  // namespace cardarena::detail
