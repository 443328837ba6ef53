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

/** The author's code, of either kind, with its session: calls it, and catches what it throws. */
final class Author {
  private static final System.Logger LOG = System.getLogger("cardarena");
  private static final int MOST_LOGGED_CHARS = 2000;

  private final Player player;
  private final ThreadFactory threads;
  private final Map<Match, BlockingQueue<Work>> boxes = new HashMap<>();
  private final BlockingQueue<Work> batches = new LinkedBlockingQueue<>();
  private final List<Thread> running = new ArrayList<>();
  private Session session;

  Author(Player player, ThreadFactory threads) {
    this.player = player;
    this.threads = threads;
  }

  /** Joins it to the session that it answers to, before that tells anything. */
  void join(Session with) {
    session = with;
    if (player.batch != null) {
      begin(this::playBatches);
    }
  }

  /** Takes what waits for the author's code. It never waits; the session calls it in order. */
  void accept(Work work) {
    if (player.batch != null) {
      batches.add(work);
      return;
    }
    if (work instanceof Work.Started) {
      BlockingQueue<Work> box = new LinkedBlockingQueue<>();
      boxes.put(work.match(), box);
      begin(() -> playMatch(box));
    }
    boxes.get(work.match()).add(work);
    if (work instanceof Work.Ended) {
      boxes.remove(work.match());
    }
  }

  /** Nothing more comes: waits until the author's code has returned from all that it was given. */
  void finish() throws InterruptedException {
    if (player.batch != null) {
      batches.add(new Work.Started(null));
    }
    for (Thread thread : running) {
      thread.join();
    }
  }

  private void begin(Runnable work) {
    Thread thread = threads.newThread(work);
    running.removeIf(each -> !each.isAlive() && each.getState() == Thread.State.TERMINATED);
    running.add(thread);
    thread.start();
  }

  private void playMatch(BlockingQueue<Work> box) {
    Bot<Message, Message, Message> bot = null;
    Throwable broken = null;
    while (true) {
      Work work = next(box);
      Match match = work.match();
      if (work instanceof Work.Asked asked) {
        decide(asked.ask(), bot, broken);
      } else if (work instanceof Work.Ended ended) {
        if (bot != null) {
          try {
            bot.ended(ended.end());
          } catch (Exception | StackOverflowError | AssertionError error) {
            tell("the bot failed at the end of match " + match.number(), error);
          }
        }
        return;
      } else {
        try {
          bot = player.bot.apply(match);
        } catch (RuntimeException | StackOverflowError | AssertionError error) {
          broken = error;
          tell("the bot failed at the start of match " + match.number(), error);
        }
      }
    }
  }

  private static Work next(BlockingQueue<Work> box) {
    while (true) {
      try {
        return box.take();
      } catch (InterruptedException error) {
        // The author's own affair; the match goes on.
      }
    }
  }

  private void decide(
      Ask<Message, Message, Message> ask, Bot<Message, Message, Message> bot, Throwable broken) {
    if (!session.show(ask)) {
      return;
    }
    Answer answer;
    if (bot == null) {
      Throwable why = broken == null ? new IllegalStateException("no bot was made") : broken;
      answer = Choice.failed(ask.id(), why);
    } else {
      try {
        answer = bot.move(ask).answer(ask);
      } catch (Exception | StackOverflowError | AssertionError error) {
        answer = firstMove(ask, error);
      }
    }
    session.answer(List.of(answer));
  }

  private static Answer firstMove(Ask<?, ?, ?> ask, Throwable error) {
    String text = ask.message().toString();
    String shown = text.substring(0, Math.min(MOST_LOGGED_CHARS, text.length()));
    String where = "ask " + ask.id() + " of match " + ask.match().number();
    String game = " (" + ask.match().game() + ")";
    tell(
        "the bot failed at "
            + where
            + game
            + ", so the first move is played; the ask was\n"
            + shown,
        error);
    return Choice.failed(ask.id(), error);
  }

  // Batches.

  private void playBatches() {
    while (true) {
      List<Work> work = new ArrayList<>(List.of(next(batches)));
      batches.drainTo(work);
      List<Ask<Message, Message, Message>> asks = new ArrayList<>();
      for (Work one : work) {
        if (one.match() == null) {
          return;
        }
        if (!(one instanceof Work.Asked asked)) {
          tellBatch(one);
        } else if (session.show(asked.ask())) {
          asks.add(asked.ask());
        }
      }
      if (!asks.isEmpty()) {
        session.answer(decideAll(asks));
      }
    }
  }

  private void tellBatch(Work work) {
    try {
      if (work instanceof Work.Ended ended) {
        player.batch.ended(ended.end());
      } else {
        player.batch.started(work.match());
      }
    } catch (Exception | StackOverflowError | AssertionError error) {
      tell("the bot failed at the start or end of match " + work.match().number(), error);
    }
  }

  private List<Answer> decideAll(List<Ask<Message, Message, Message>> asks) {
    List<Answer> answers = new ArrayList<>();
    try {
      List<Choice> choices = player.batch.moves(List.copyOf(asks));
      if (choices.size() != asks.size()) {
        throw new IllegalArgumentException(
            choices.size() + " moves were chosen for " + asks.size() + " asks");
      }
      for (int place = 0; place < asks.size(); place++) {
        answers.add(chosen(asks.get(place), choices.get(place)));
      }
    } catch (Exception | StackOverflowError | AssertionError error) {
      tell("the bot failed at a batch of " + asks.size() + ", so first moves are played", error);
      answers.clear();
      asks.forEach(ask -> answers.add(Choice.failed(ask.id(), error)));
    }
    return answers;
  }

  private static Answer chosen(Ask<?, ?, ?> ask, Choice choice) {
    try {
      return choice.answer(ask);
    } catch (RuntimeException error) {
      return firstMove(ask, error);
    }
  }

  private static void tell(String what, Throwable error) {
    LOG.log(System.Logger.Level.ERROR, what, error);
  }
}
