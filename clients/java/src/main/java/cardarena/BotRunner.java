package cardarena;

import cardarena.v1.Answer;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;

/** Calls the author's bots, and handles their errors. */
final class BotRunner {
  private static final System.Logger LOG = System.getLogger("cardarena");
  private static final int MAX_LOGGED_CHARS = 2000;

  private final Player player;
  private final ThreadFactory threads;
  private final Map<Match, BlockingQueue<BotTask>> queues = new HashMap<>();
  private final BlockingQueue<BotTask> batchQueue = new LinkedBlockingQueue<>();
  private final List<Thread> running = new ArrayList<>();
  private Session session;

  BotRunner(Player player, ThreadFactory threads) {
    this.player = player;
    this.threads = threads;
  }

  /** Sets the session that gets the answers. Call it before the session gives the first task. */
  void start(Session answers) {
    session = answers;
    if (player.batch != null) {
      startThread(this::playBatches);
    }
  }

  /** Queues a task. It never blocks. The session calls it in order. */
  void accept(BotTask task) {
    if (player.batch != null) {
      batchQueue.add(task);
      return;
    }
    if (task instanceof BotTask.Started) {
      BlockingQueue<BotTask> queue = new LinkedBlockingQueue<>();
      queues.put(task.match(), queue);
      startThread(() -> playMatch(queue));
    }
    queues.get(task.match()).add(task);
    if (task instanceof BotTask.Ended) {
      queues.remove(task.match());
    }
  }

  /** Waits until the bots have returned from all tasks. No task may follow. */
  void finish() throws InterruptedException {
    if (player.batch != null) {
      batchQueue.add(new BotTask.Started(null));
    }
    for (Thread thread : running) {
      thread.join();
    }
  }

  private void startThread(Runnable work) {
    Thread thread = threads.newThread(work);
    running.removeIf(each -> !each.isAlive() && each.getState() == Thread.State.TERMINATED);
    running.add(thread);
    thread.start();
  }

  private void playMatch(BlockingQueue<BotTask> queue) {
    TypedBot<?, ?, ?> bot = null;
    Throwable makeError = null;
    while (true) {
      BotTask task = take(queue);
      Match match = task.match();
      if (task instanceof BotTask.Asked asked) {
        choose(asked.ask(), bot, makeError);
      } else if (task instanceof BotTask.Ended ended) {
        if (bot != null) {
          try {
            bot.ended(ended.end());
          } catch (Exception | StackOverflowError | AssertionError error) {
            logFailure("the bot failed at the end of match " + match.number(), error);
          }
        }
        return;
      } else {
        try {
          bot = player.bot.apply(match);
        } catch (RuntimeException | StackOverflowError | AssertionError error) {
          makeError = error;
          logFailure("making the bot of match " + match.number() + " failed", error);
        }
      }
    }
  }

  private static BotTask take(BlockingQueue<BotTask> queue) {
    while (true) {
      try {
        return queue.take();
      } catch (InterruptedException error) {
        // A bot interrupted its thread. The match continues.
      }
    }
  }

  private void choose(UntypedAsk ask, TypedBot<?, ?, ?> bot, Throwable makeError) {
    if (!session.deliver(ask, System.nanoTime())) {
      return;
    }
    Answer answer;
    if (bot == null) {
      Throwable why =
          makeError == null ? new IllegalStateException("the player has no bot") : makeError;
      answer = Choice.failedAnswer(ask.id(), why);
    } else {
      try {
        answer = bot.answer(ask);
      } catch (Exception | StackOverflowError | AssertionError error) {
        answer = logAndFail(ask, error);
      }
    }
    session.answer(List.of(answer), System.nanoTime());
  }

  private static Answer logAndFail(UntypedAsk ask, Throwable error) {
    String text = ask.message().toString();
    String shortened = text.substring(0, Math.min(MAX_LOGGED_CHARS, text.length()));
    String where = "ask " + ask.id() + " of match " + ask.match().number();
    String game = " (" + ask.match().game() + ")";
    logFailure(
        "the bot failed at " + where + game + "; the fallback is played; the ask was\n" + shortened,
        error);
    return Choice.failedAnswer(ask.id(), error);
  }

  // Batches.

  private void playBatches() {
    while (true) {
      List<BotTask> tasks = new ArrayList<>(List.of(take(batchQueue)));
      batchQueue.drainTo(tasks);
      List<UntypedAsk> asks = new ArrayList<>();
      for (BotTask task : tasks) {
        if (task.match() == null) {
          return;
        }
        if (!(task instanceof BotTask.Asked asked)) {
          notifyBatchBot(task);
        } else if (session.deliver(asked.ask(), System.nanoTime())) {
          asks.add(asked.ask());
        }
      }
      if (!asks.isEmpty()) {
        session.answer(chooseAll(asks), System.nanoTime());
      }
    }
  }

  private void notifyBatchBot(BotTask task) {
    try {
      if (task instanceof BotTask.Ended ended) {
        player.batch.ended(ended.end());
      } else {
        player.batch.started(task.match());
      }
    } catch (Exception | StackOverflowError | AssertionError error) {
      logFailure("the bot failed at the start or end of match " + task.match().number(), error);
    }
  }

  private List<Answer> chooseAll(List<UntypedAsk> asks) {
    List<Answer> answers = new ArrayList<>();
    try {
      List<Choice<Message>> choices =
          player.batch.moves(asks.stream().map(ask -> new Ask<>(ask, Types.ANY)).toList());
      if (choices.size() != asks.size()) {
        throw new IllegalArgumentException(
            "the bot returned " + choices.size() + " moves for " + asks.size() + " asks");
      }
      for (int i = 0; i < asks.size(); i++) {
        answers.add(answer(asks.get(i), choices.get(i)));
      }
    } catch (Exception | StackOverflowError | AssertionError error) {
      logFailure("the bot failed at a batch of " + asks.size() + "; fallbacks are played", error);
      answers.clear();
      asks.forEach(ask -> answers.add(Choice.failedAnswer(ask.id(), error)));
    }
    return answers;
  }

  private static Answer answer(UntypedAsk ask, Choice<?> choice) {
    try {
      return choice.answer(ask);
    } catch (RuntimeException error) {
      return logAndFail(ask, error);
    }
  }

  private static void logFailure(String what, Throwable error) {
    LOG.log(System.Logger.Level.ERROR, what, error);
  }
}
