package cardarena;

import cardarena.v1.Answer;
import cardarena.v1.ArenaMessage;
import cardarena.v1.AskClosed;
import cardarena.v1.BotMessage;
import cardarena.v1.FaultKind;
import cardarena.v1.GameAdmission;
import cardarena.v1.GameRefusal;
import cardarena.v1.Hello;
import cardarena.v1.Limits;
import cardarena.v1.MatchEnd;
import cardarena.v1.MatchStart;
import cardarena.v1.Refusal;
import cardarena.v1.Welcome;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A bot at the arena, over all its streams. It reads no socket and never calls the author's code.
 *
 * <p>An ask is told, then shown to the author, then answered, or settled at any time. The arena
 * does not acknowledge answers, so an answer is kept until the match's next ask: whenever the ask
 * comes again, the same answer is said again and the author is not asked anew.
 */
final class Session {
  /** The version of the contract that this SDK was written for. */
  static final int CONTRACT = 1;

  private static final int DEFAULT_NOTE_CHARS = 200;

  /** Ended matches that are remembered: an arena repeats the last 64 at most. */
  private static final int REMEMBERED_ENDS = 1024;

  /** What is to be done about a message of the arena. */
  static final class Received {
    final List<String> say = new ArrayList<>();
    boolean welcomed;

    /** Where the arena sends the bot; empty if nowhere. */
    String redirect = "";

    /** Why the bot would wait in vain; empty if it would not. */
    String refused = "";
  }

  /** The bot's own at a match. */
  private static final class Seat {
    final Match match;

    /** The last one, open or not; null before. */
    Ask<Message, Message, Message> ask;

    /** To it; null before. */
    Answer answer;

    Seat(Match match) {
      this.match = match;
    }

    /** What the author has not been told, as the last ask was not given to it. */
    Told untold() {
      return ask == null || ask.shown ? Told.NOTHING : ask.told();
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Hello hello;
  private final boolean askForced;
  private final Deals deals;
  private final Consumer<Work> tell;
  private Outbox out;
  private boolean live;
  private boolean draining;
  private int epoch;
  private Limits limits = Limits.getDefaultInstance();
  private final Map<Integer, Seat> seats = new TreeMap<>();

  /** By the last ask, open or not: one that counts as settled may come again. */
  private final Map<Long, Seat> asked = new HashMap<>();

  private final Set<Integer> over = new LinkedHashSet<>();

  /** Asks that were handed on, and that no thread has taken up yet. */
  private int handed;

  /** Of what is said on opening a stream; deals are null of a bot that takes no part in them. */
  Session(Hello hello, boolean askForced, Deals deals, Consumer<Work> tell) {
    this.hello = hello;
    this.askForced = askForced;
    this.deals = deals;
    this.tell = tell;
  }

  // The stream.

  /** Begins a stream; its first message is hello. */
  void opened(Outbox stream) {
    lock.lock();
    try {
      live = false;
      out = stream;
      if (deals != null) {
        deals.onStream();
      }
      out.put(List.of(BotMessage.newBuilder().setHello(hello).build()));
      out.handed(handed);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The stream is gone. What is open stays so until the next welcome.
   *
   * @return whether the arena had said that it closes
   */
  boolean lost() {
    lock.lock();
    try {
      live = false;
      out = null;
      return draining;
    } finally {
      lock.unlock();
    }
  }

  /** There will be no other stream: what is in play is missed. */
  void finish() {
    lock.lock();
    try {
      Received ignored = new Received();
      for (Seat seat : List.copyOf(seats.values())) {
        missed(ignored, seat);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The lies that the arena was caught at. */
  List<String> lies() {
    lock.lock();
    try {
      return deals == null ? List.of() : deals.lies();
    } finally {
      lock.unlock();
    }
  }

  /** The games of the matches that go on, oldest first. */
  List<String> seated() {
    lock.lock();
    try {
      return seats.values().stream().map(seat -> seat.match.game()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Takes what the arena said. */
  Received receive(ArenaMessage message, long nowNanos) {
    lock.lock();
    try {
      Received received = new Received();
      receive(received, message, nowNanos);
      return received;
    } finally {
      lock.unlock();
    }
  }

  private void receive(Received received, ArenaMessage message, long nowNanos) {
    switch (message.getBodyCase()) {
      case ASKS -> onAsks(received, message.getAsks().getAsksList(), nowNanos);
      case ASK_CLOSED -> onAskClosed(received, message.getAskClosed());
      case MATCH_START -> onMatchStart(received, message.getMatchStart());
      case MATCH_END -> onMatchEnd(received, message.getMatchEnd());
      case WELCOME -> onWelcome(received, message.getWelcome(), nowNanos);
      case REFUSAL -> received.say.add(refused(message.getRefusal()));
      case DRAIN -> {
        draining = true;
        double left = message.getDrain().getDeadlineMs() / 1000.0;
        received.say.add("the arena closes in " + left + " s; running matches go on");
      }
      case REDIRECT -> received.redirect = message.getRedirect().getEndpoint();
      case DEAL_OPEN -> {
        if (deals != null) {
          react(received, deals.onOpen(message.getDealOpen(), nowNanos));
        }
      }
      case DEAL_TRANSCRIPT -> {
        if (deals != null) {
          react(received, deals.onTranscript(message.getDealTranscript(), nowNanos));
        }
      }
      case DEAL_CLOSE -> {
        if (deals != null) {
          react(received, deals.onClose(message.getDealClose()));
        }
      }
      default -> {} // a newer arena says more than this SDK knows
    }
  }

  private static String refused(Refusal refusal) {
    String deal =
        refusal.getDealContext().isEmpty() ? "" : Deals.name(refusal.getDealContext()) + ": ";
    String reason = word(refusal.getReason().name(), "REFUSAL_REASON_");
    return deal + "refused (" + reason + "): " + refusal.getText();
  }

  private void react(Received received, Deals.Reaction reaction) {
    received.say.addAll(reaction.say());
    if (out != null && !reaction.send().isEmpty()) {
      out.put(reaction.send());
    }
  }

  // The author's side.

  /** The author is about to be given an ask; false if it is settled, or was given it. */
  boolean show(Ask<?, ?, ?> ask) {
    lock.lock();
    try {
      countHanded(-1);
      boolean wanted = ask.open && !ask.shown;
      ask.shown |= wanted;
      return wanted;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Keeps answers and sends them. One to an ask that has an answer is dropped; without a stream
   * nothing is sent, as welcome will ask again.
   */
  void answer(List<Answer> answers) {
    lock.lock();
    try {
      List<Answer> taken = new ArrayList<>();
      for (Answer given : answers) {
        Seat seat = asked.get(given.getAskId());
        if (seat == null || seat.answer != null) {
          continue;
        }
        seat.answer = cut(given);
        if (seat.ask.open) {
          taken.add(seat.answer);
        }
      }
      send(taken);
    } finally {
      lock.unlock();
    }
  }

  private Answer cut(Answer answer) {
    int most = limits.getMaxNoteChars() > 0 ? limits.getMaxNoteChars() : DEFAULT_NOTE_CHARS;
    return answer.toBuilder().setNote(Choice.cut(answer.getNote(), most)).build();
  }

  private void send(List<Answer> answers) {
    if (live && !answers.isEmpty()) {
      out.putAnswers(answers);
    }
  }

  // What the arena says.

  private void onWelcome(Received received, Welcome welcome, long nowNanos) {
    received.welcomed = true;
    if (welcome.getContract() > CONTRACT) {
      received.refused =
          "the arena speaks version "
              + welcome.getContract()
              + " of the contract, and this SDK does not: a newer one is needed";
      return;
    }
    if (welcome.getEpoch() <= epoch) {
      // Streams are counted up: this arena has started anew, with the same small numbers.
      List.copyOf(seats.values()).forEach(seat -> missed(received, seat));
      over.clear();
    }
    epoch = welcome.getEpoch();
    live = true;
    draining = false;
    limits = welcome.getLimits();
    out.limit(limits);

    Set<Integer> listed =
        welcome.getMatchesList().stream().map(MatchStart::getMatch).collect(Collectors.toSet());
    for (Seat seat : List.copyOf(seats.values())) {
      if (!listed.contains(seat.match.number())) {
        missed(received, seat);
      }
    }
    for (MatchStart start : welcome.getMatchesList()) {
      if (!over.contains(start.getMatch())) {
        onMatchStart(received, start);
      }
    }
    Set<Long> wanted = new HashSet<>(welcome.getLaterAsksList());
    welcome.getOpenAsksList().forEach(ask -> wanted.add(ask.getAskId()));
    for (Seat seat : seats.values()) {
      if (seat.ask != null && !wanted.contains(seat.ask.id())) {
        seat.ask.open = false;
      }
    }
    onAsks(received, welcome.getOpenAsksList(), nowNanos);
    turnedAway(received, welcome);
  }

  private static void turnedAway(Received received, Welcome welcome) {
    List<String> none =
        welcome.getGamesList().stream()
            .filter(game -> game.getRefusal() != GameRefusal.GAME_REFUSAL_UNSPECIFIED)
            .map(GameAdmission::getText)
            .toList();
    none.forEach(text -> received.say.add("not seated: " + text));
    boolean all = !none.isEmpty() && none.size() == welcome.getGamesCount();
    if (all && welcome.getMatchesCount() == 0) {
      received.refused =
          "the arena seats this bot at none of its games: " + String.join("; ", none);
    }
  }

  private void onMatchStart(Received received, MatchStart start) {
    Seat known = seats.get(start.getMatch());
    if (known != null && !known.match.start().equals(start)) {
      missed(received, known);
      known = null;
    }
    if (known == null) {
      Match match = new Match(start);
      seats.put(start.getMatch(), new Seat(match));
      tell.accept(new Work.Started(match));
    }
    if (deals != null) {
      react(received, deals.onMatchStart(start));
    }
  }

  private void onAsks(Received received, List<cardarena.v1.Ask> asks, long nowNanos) {
    List<Answer> answers = new ArrayList<>();
    for (cardarena.v1.Ask message : asks) {
      if (deals != null) {
        react(received, deals.onAsk(message));
      }
      long id = message.getAskId();
      Seat seat = seats.get(message.getMatch());
      if (seat == null) {
        received.say.add("asked at match " + message.getMatch() + ", which never started");
      } else if (seat.ask != null && seat.ask.id() == id) {
        reopen(seat);
        if (seat.answer != null) {
          answers.add(seat.answer);
        }
      } else if (Bodies.field(message) == null) {
        String note = "error: this version of the SDK has no messages of " + seat.match.game();
        answers.add(cut(Answer.newBuilder().setAskId(id).setIndex(0).setNote(note).build()));
      } else {
        onNewAsk(seat, new Ask<>(message, seat.match, seat.untold(), nowNanos));
        if (seat.answer != null) {
          answers.add(seat.answer);
        }
      }
    }
    send(answers);
  }

  /** Hands the ask on, or answers it where there is no choice. */
  private void onNewAsk(Seat seat, Ask<Message, Message, Message> ask) {
    forgetAsk(seat);
    seat.ask = ask;
    seat.answer = null;
    asked.put(ask.id(), seat);
    if (!askForced && ask.forced()) {
      seat.answer = Answer.newBuilder().setAskId(ask.id()).setIndex(0).build();
    } else {
      hand(ask);
    }
  }

  /** Hands an ask on to the author's code, which calls {@code show} for each. */
  private void hand(Ask<Message, Message, Message> ask) {
    countHanded(1);
    tell.accept(new Work.Asked(ask));
  }

  /** How many asks were handed on, and no thread has taken up yet. */
  int handed() {
    lock.lock();
    try {
      return handed;
    } finally {
      lock.unlock();
    }
  }

  private void countHanded(int more) {
    handed += more;
    if (out != null) {
      out.handed(handed);
    }
  }

  /** The last ask of a match is asked again, though it may have counted as settled. */
  private void reopen(Seat seat) {
    if (!seat.ask.open) {
      seat.ask.open = true;
      if (seat.answer == null && !seat.ask.shown) {
        hand(seat.ask);
      }
    }
  }

  private void onAskClosed(Received received, AskClosed closed) {
    Seat seat = asked.get(closed.getAskId());
    String where = "";
    if (seat != null) {
      seat.ask.open = false;
      where = " in match " + seat.match.number() + " (" + seat.match.game() + ")";
    }
    if (closed.getFault() != FaultKind.FAULT_KIND_UNSPECIFIED) {
      String kind = word(closed.getFault().name(), "FAULT_KIND_");
      received.say.add("fault" + where + ": " + kind + ": " + closed.getReason());
    }
  }

  private void onMatchEnd(Received received, MatchEnd end) {
    Seat seat = seats.get(end.getMatch());
    if (seat == null) {
      return;
    }
    end(received, seat, end);
    over.add(end.getMatch());
    if (over.size() > REMEMBERED_ENDS) {
      over.remove(over.iterator().next());
    }
  }

  // Settling.

  private void missed(Received received, Seat seat) {
    end(received, seat, MatchEnd.newBuilder().setMatch(seat.match.number()).build());
  }

  private void end(Received received, Seat seat, MatchEnd message) {
    End end = new End(message, seat.match, seat.untold());
    forgetAsk(seat);
    seats.remove(seat.match.number());
    tell.accept(new Work.Ended(end));
    if (deals != null) {
      react(received, deals.onMatchEnd(message));
    }
  }

  private void forgetAsk(Seat seat) {
    if (seat.ask != null) {
      seat.ask.open = false;
      asked.remove(seat.ask.id());
    }
  }

  /** The value of an enum as a word; a newer arena may have values that this SDK does not know. */
  private static String word(String name, String prefix) {
    String bare = name.startsWith(prefix) ? name.substring(prefix.length()) : name;
    return bare.toLowerCase(Locale.ROOT);
  }
}
