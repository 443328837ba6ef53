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
 * The state of a bot at the arena, across all its streams. It reads no socket, and does not call
 * the bot.
 *
 * <p>An ask is queued, then delivered to the bot, then answered. The arena can settle it at any
 * time. The arena does not acknowledge answers. The session therefore keeps an answer until the
 * next ask of the match: if the arena repeats the ask, the session repeats the answer and does not
 * call the bot again.
 */
final class Session {
  /** The contract version that this SDK supports. */
  static final int CONTRACT = 1;

  private static final int DEFAULT_NOTE_CHARS = 200;

  /** The maximum number of remembered ends of matches. An arena repeats at most the last 64. */
  private static final int MAX_REMEMBERED_ENDS = 1024;

  /** What to do about a message of the arena. */
  static final class Received {
    /** Lines for the log. */
    final List<String> warnings = new ArrayList<>();

    boolean welcomed;

    /** Where the arena sends the bot; empty if nowhere. */
    String redirect = "";

    /** Why the bot cannot play at this arena; empty if it can. */
    String refused = "";
  }

  /** The bot's seat at a match. */
  private static final class Seat {
    final Match match;

    /** The last ask, open or not; null before. */
    UntypedAsk ask;

    /** The answer to the last ask; null before. */
    Answer answer;

    final AskTimes times = new AskTimes();

    Seat(Match match) {
      this.match = match;
    }

    /** The events that the bot did not receive. */
    AskEvents undelivered() {
      return ask == null || ask.delivered ? AskEvents.NONE : ask.allEvents();
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Hello hello;
  private final boolean askForced;
  private final Deals deals;
  private final Consumer<BotTask> tasks;
  private Outbox out;
  private boolean welcomed;
  private boolean draining;
  private int epoch;
  private Limits limits = Limits.getDefaultInstance();
  private final Map<Integer, Seat> seats = new TreeMap<>();

  /** Seats by the id of their last ask. The ask may be closed: the arena can repeat it. */
  private final Map<Long, Seat> seatOfAsk = new HashMap<>();

  /** Matches whose end the arena has sent, oldest first. */
  private final Set<Integer> ended = new LinkedHashSet<>();

  /** Queued asks that no bot thread has taken yet. */
  private int queuedAsks;

  /** Asks that a bot thread has taken and not answered yet. */
  private int takenAsks;

  /**
   * The seat of the last answer, of which is the arena's last round trip; null if it was sent
   * again.
   */
  private Seat lastAnswered;

  /** Of the first message of each stream. Deals are null if the bot takes no part in fair deals. */
  Session(Hello hello, boolean askForced, Deals deals, Consumer<BotTask> tasks) {
    this.hello = hello;
    this.askForced = askForced;
    this.deals = deals;
    this.tasks = tasks;
  }

  // The connection calls these.

  /** Starts a stream, whose first message is hello. */
  void streamOpened(Outbox stream) {
    lock.lock();
    try {
      welcomed = false;
      out = stream;
      if (deals != null) {
        deals.onStream();
      }
      out.put(List.of(BotMessage.newBuilder().setHello(hello).build()));
      out.setAsks(queuedAsks, takenAsks);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the stream. Open asks stay open until the next welcome.
   *
   * @return whether the arena was shutting down
   */
  boolean streamLost() {
    lock.lock();
    try {
      welcomed = false;
      out = null;
      return draining;
    } finally {
      lock.unlock();
    }
  }

  /** Ends play: no stream follows. Matches in play are missed. */
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

  /** What the arena lied about, one sentence each. */
  List<String> lies() {
    lock.lock();
    try {
      return deals == null ? List.of() : deals.lies();
    } finally {
      lock.unlock();
    }
  }

  /** The games of the matches in play, oldest first. */
  List<String> games() {
    lock.lock();
    try {
      return seats.values().stream().map(seat -> seat.match.game()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Processes a message of the arena. */
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
      case REFUSAL -> received.warnings.add(refused(message.getRefusal()));
      case DRAIN -> {
        draining = true;
        double left = message.getDrain().getDeadlineMs() / 1000.0;
        received.warnings.add("the arena shuts down in " + left + " s; running matches continue");
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
      default -> {} // a message of a newer arena, unknown to this SDK
    }
  }

  private static String refused(Refusal refusal) {
    String deal =
        refusal.getDealContext().isEmpty() ? "" : DealSet.name(refusal.getDealContext()) + ": ";
    String reason = lowerName(refusal.getReason().name(), "REFUSAL_REASON_");
    return deal + "refused (" + reason + "): " + refusal.getText();
  }

  private void react(Received received, Deals.Reaction reaction) {
    received.warnings.addAll(reaction.warnings());
    if (out != null && !reaction.send().isEmpty()) {
      out.put(reaction.send());
    }
  }

  // The bot runner calls these.

  /**
   * Marks a queued ask as delivered, right before the call of the bot.
   *
   * @return false if the ask is settled or was delivered before: the bot must not be called then
   */
  boolean deliver(UntypedAsk ask, long nowNanos) {
    lock.lock();
    try {
      boolean due = ask.open && !ask.delivered;
      if (due) {
        seatOfAsk.get(ask.id()).times.delivered(nowNanos);
      }
      ask.delivered |= due;
      countAsks(-1, due ? 1 : 0);
      return due;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Keeps the answers to delivered asks and sends them. A second answer to an ask is dropped.
   * Without a stream nothing is sent: the next welcome repeats the open asks.
   */
  void answer(List<Answer> answers, long nowNanos) {
    lock.lock();
    try {
      List<Answer> toSend = new ArrayList<>();
      for (Answer answer : answers) {
        Seat seat = seatOfAsk.get(answer.getAskId());
        if (seat == null || seat.answer != null) {
          continue;
        }
        if (seat.times.due && answer.getNote().isEmpty()) {
          seat.answer = truncate(answer.toBuilder().setNote(seat.times.note()).build());
        } else {
          seat.answer = truncate(answer);
        }
        seat.times.answered(nowNanos);
        if (seat.ask.open) {
          lastAnswered = welcomed ? seat : null;
          toSend.add(seat.answer);
        }
      }
      send(toSend);
      countAsks(0, -answers.size());
    } finally {
      lock.unlock();
    }
  }

  private Answer truncate(Answer answer) {
    int maxChars = limits.getMaxNoteChars() > 0 ? limits.getMaxNoteChars() : DEFAULT_NOTE_CHARS;
    return answer.toBuilder().setNote(Choice.truncate(answer.getNote(), maxChars)).build();
  }

  private void send(List<Answer> answers) {
    if (welcomed && !answers.isEmpty()) {
      out.putAnswers(answers);
    }
  }

  // Messages of the arena.

  private void onWelcome(Received received, Welcome welcome, long nowNanos) {
    received.welcomed = true;
    if (welcome.getContract() > CONTRACT) {
      received.refused =
          "the arena uses contract version "
              + welcome.getContract()
              + ", this SDK supports version "
              + CONTRACT
              + ": upgrade the SDK";
      return;
    }
    if (welcome.getEpoch() <= epoch) {
      // The arena counts streams up. A lower number is of an arena that lost its state.
      List.copyOf(seats.values()).forEach(seat -> missed(received, seat));
      ended.clear();
    }
    epoch = welcome.getEpoch();
    welcomed = true;
    draining = false;
    limits = welcome.getLimits();
    out.setLimits(limits);

    Set<Integer> listed =
        welcome.getMatchesList().stream().map(MatchStart::getMatch).collect(Collectors.toSet());
    for (Seat seat : List.copyOf(seats.values())) {
      if (!listed.contains(seat.match.number())) {
        missed(received, seat);
      }
    }
    for (MatchStart start : welcome.getMatchesList()) {
      if (!ended.contains(start.getMatch())) {
        onMatchStart(received, start);
      }
    }
    Set<Long> stillOpen = new HashSet<>(welcome.getLaterAsksList());
    welcome.getOpenAsksList().forEach(ask -> stillOpen.add(ask.getAskId()));
    for (Seat seat : seats.values()) {
      if (seat.ask != null && !stillOpen.contains(seat.ask.id())) {
        seat.ask.open = false;
      }
    }
    onAsks(received, welcome.getOpenAsksList(), nowNanos);
    checkRefusedGames(received, welcome);
  }

  private static void checkRefusedGames(Received received, Welcome welcome) {
    List<String> refused =
        welcome.getGamesList().stream()
            .filter(game -> game.getRefusal() != GameRefusal.GAME_REFUSAL_UNSPECIFIED)
            .map(GameAdmission::getText)
            .toList();
    refused.forEach(text -> received.warnings.add("game refused: " + text));
    boolean all = !refused.isEmpty() && refused.size() == welcome.getGamesCount();
    if (all && welcome.getMatchesCount() == 0) {
      received.refused = "the arena refused all games of this bot: " + String.join("; ", refused);
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
      tasks.accept(new BotTask.Started(match));
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
        received.warnings.add(
            "ignored an ask of match " + message.getMatch() + ", which did not start");
      } else if (seat.ask != null && seat.ask.id() == id) {
        reopen(seat);
        if (seat.answer != null) {
          answers.add(seat.answer);
          lastAnswered = null; // its round trip has the time without a stream
        }
      } else if (GameMessages.field(message) == null) {
        String note = "error: this version of the SDK does not support " + seat.match.game();
        answers.add(
            truncate(Answer.newBuilder().setAskId(id).setFailed(true).setNote(note).build()));
      } else {
        int tripMs = lastAnswered == seat ? message.getClock().getLastRoundTripMs() : 0;
        seat.times.arrived(nowNanos, tripMs);
        onNewAsk(seat, new UntypedAsk(message, seat.match, seat.undelivered(), nowNanos));
        if (seat.answer != null) {
          answers.add(seat.answer);
          lastAnswered = seat;
        }
      }
    }
    send(answers);
  }

  /** Queues the ask, or answers it if there is only one legal move. */
  private void onNewAsk(Seat seat, UntypedAsk ask) {
    forgetAsk(seat);
    seat.ask = ask;
    seat.answer = null;
    seatOfAsk.put(ask.id(), seat);
    if (!askForced && ask.forced()) {
      seat.answer = Answer.newBuilder().setAskId(ask.id()).setIndex(0).build();
    } else {
      enqueue(ask);
    }
  }

  /** Queues an ask for the bot runner, which calls {@link #deliver} for each. */
  private void enqueue(UntypedAsk ask) {
    countAsks(1, 0);
    tasks.accept(new BotTask.Asked(ask));
  }

  /** The number of queued asks that no bot thread has taken yet. */
  int queuedAsks() {
    lock.lock();
    try {
      return queuedAsks;
    } finally {
      lock.unlock();
    }
  }

  private void countAsks(int moreQueued, int moreTaken) {
    queuedAsks += moreQueued;
    takenAsks += moreTaken;
    if (out != null) {
      out.setAsks(queuedAsks, takenAsks);
    }
  }

  /** Opens the last ask of a match again, because the arena repeated it. */
  private void reopen(Seat seat) {
    if (!seat.ask.open) {
      seat.ask.open = true;
      if (seat.answer == null && !seat.ask.delivered) {
        enqueue(seat.ask);
      }
    }
  }

  private void onAskClosed(Received received, AskClosed closed) {
    Seat seat = seatOfAsk.get(closed.getAskId());
    String where = "";
    if (seat != null) {
      seat.ask.open = false;
      where = " in match " + seat.match.number() + " (" + seat.match.game() + ")";
    }
    if (closed.getFault() != FaultKind.FAULT_KIND_UNSPECIFIED) {
      String kind = lowerName(closed.getFault().name(), "FAULT_KIND_");
      received.warnings.add("fault" + where + ": " + kind + ": " + closed.getReason());
    }
  }

  private void onMatchEnd(Received received, MatchEnd end) {
    Seat seat = seats.get(end.getMatch());
    if (seat == null) {
      return;
    }
    end(received, seat, end);
    ended.add(end.getMatch());
    if (ended.size() > MAX_REMEMBERED_ENDS) {
      ended.remove(ended.iterator().next());
    }
  }

  private void missed(Received received, Seat seat) {
    end(received, seat, MatchEnd.newBuilder().setMatch(seat.match.number()).build());
  }

  private void end(Received received, Seat seat, MatchEnd message) {
    End end = new End(message, seat.match, seat.undelivered());
    forgetAsk(seat);
    seats.remove(seat.match.number());
    tasks.accept(new BotTask.Ended(end));
    if (deals != null) {
      react(received, deals.onMatchEnd(message));
    }
  }

  private void forgetAsk(Seat seat) {
    if (seat.ask != null) {
      seat.ask.open = false;
      seatOfAsk.remove(seat.ask.id());
    }
  }

  /** The name of an enum's value in lower case, without the enum's prefix. */
  private static String lowerName(String name, String prefix) {
    String bare = name.startsWith(prefix) ? name.substring(prefix.length()) : name;
    return bare.toLowerCase(Locale.ROOT);
  }
}
