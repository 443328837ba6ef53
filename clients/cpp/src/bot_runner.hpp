// Calls the author's bots, and handles their errors.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "session.hpp"

namespace cardarena::detail {

/// Each match has a thread of its own. A batch bot has one thread for all.
class BotRunner : public std::enable_shared_from_this<BotRunner> {
 public:
  BotRunner(Player player, Logger log);

  /// Sets the session that gets the answers. Call it before the session gives the first task.
  void start(std::shared_ptr<Session> session);
  /// Queues a task. It never blocks. The session calls it in order.
  void accept(BotTask task);
  /// Waits until the bots have returned from all tasks, or leaves them alone. No task may follow.
  void finish(bool waits);

 private:
  /// The tasks of one match, or of all.
  struct Queue {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<BotTask> tasks;
    bool closed = false;

    void put(BotTask task);
    void close();
    /// Waits for tasks; empty when the queue is closed and all are taken.
    std::deque<BotTask> take();
  };

  void start_thread(std::function<void(BotRunner&, Queue&)> work, std::shared_ptr<Queue> queue);
  void play_match(Queue& queue);
  void choose(AskState& state, Ask ask, Bot* bot, const std::string& make_error);
  void play_batches(Queue& queue);
  std::vector<v1::Answer> choose_all(std::vector<Ask>& asks);
  void log_failure(const std::string& what, const std::string& why);
  v1::Answer log_and_fail(const Ask& ask, const AskState& state, const std::string& why);

  const Player player_;
  const Logger log_;
  std::shared_ptr<Session> session_;
  std::unordered_map<const Match*, std::shared_ptr<Queue>> queues_;
  std::shared_ptr<Queue> batch_queue_;
  struct Running {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> over;
  };
  std::vector<Running> running_;
};

}  // namespace cardarena::detail
