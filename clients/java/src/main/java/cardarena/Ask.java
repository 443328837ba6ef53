package cardarena;

import cardarena.v1.Clock;
import cardarena.v1.MatchStart;
import cardarena.v1.MatchTerms;
import cardarena.v1.PlayedFor;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * One decision of a seat, with everything that the seat can see.
 *
 * @param <V> the game's view, such as JamView
 * @param <M> its moves
 * @param <E> its events
 */
public final class Ask<V extends Message, M extends Message, E extends Message> {
  private static final int MINUTE_MS = 60_000;

  /** For matches of arenas that send no dice. */
  private static final ByteString OWN_DICE =
      ByteString.copyFrom(new SecureRandom().generateSeed(16));

  private RandomGenerator random;
  private final UntypedAsk untyped;
  private final V view;
  private final List<M> moves;
  private final List<E> events;
  private final Class<M> moveClass;

  /** Throws a ClassCastException if the ask is of another game. */
  Ask(UntypedAsk untyped, Types<V, M, E> types) {
    this.untyped = untyped;
    this.view = types.view().cast(untyped.view());
    this.moves = Types.cast(untyped.moves(), types.move());
    this.events = Types.cast(untyped.allEvents().events(), types.event());
    this.moveClass = types.move();
  }

  /**
   * An ask of any game for the test of a bot, as if it arrived now. The class of a game makes asks
   * of its types, such as {@link Jam#ask}.
   */
  public static Ask<Message, Message, Message> of(Match match, cardarena.v1.Ask message) {
    return of(match, message, Types.ANY);
  }

  static <V extends Message, M extends Message, E extends Message> Ask<V, M, E> of(
      Match match, cardarena.v1.Ask message, Types<V, M, E> types) {
    if (GameMessages.field(message) == null) {
      throw new IllegalArgumentException("the ask has no game");
    }
    return new Ask<>(new UntypedAsk(message, match, AskEvents.NONE, System.nanoTime()), types);
  }

  /** An ask at seat 0 of a match of the game, with a minute of time. */
  static <V extends Message, M extends Message, E extends Message> Ask<V, M, E> of(
      String game, cardarena.v1.Ask.Builder message, Types<V, M, E> types) {
    MatchTerms terms = MatchTerms.newBuilder().setGame(game).build();
    Match match = new Match(MatchStart.newBuilder().setTerms(terms).build());
    message.setClock(Clock.newBuilder().setMoveMs(MINUTE_MS));
    return of(match, message.build(), types);
  }

  /** The arena's message. */
  public cardarena.v1.Ask message() {
    return untyped.message();
  }

  /** The match of the ask. */
  public Match match() {
    return untyped.match();
  }

  /** The number by which the arena identifies this ask. */
  public long id() {
    return untyped.id();
  }

  /** What the seat sees now. */
  public V view() {
    return view;
  }

  /** Legal moves, at least one. If {@link #movesComplete}, these are all legal moves. */
  public List<M> moves() {
    return moves;
  }

  /** Whether the offered moves are all legal moves. */
  public boolean movesComplete() {
    return untyped.movesComplete();
  }

  /** Chooses an offered move by its index in {@link #moves}, from 0. */
  public Choice<M> choose(int index) {
    return Choice.index(index);
  }

  /** Chooses a move of the game, offered or not. */
  public Choice<M> choose(M move) {
    return Choice.move(Objects.requireNonNull(move, "move"));
  }

  /**
   * The move that a choice stands for, for the test of a bot.
   *
   * @throws IllegalArgumentException if the arena would not accept it: if the index is out of
   *     range, or the move is not one of all legal moves
   */
  public M chosen(Choice<M> choice) {
    var answer = choice.answer(untyped);
    if (!answer.hasMove()) {
      return moves.get(answer.getIndex());
    }
    M move = moveClass.cast(GameMessages.of(answer.getMove()));
    if (movesComplete()) {
      throw new IllegalArgumentException("the move is not legal: " + move);
    }
    return move;
  }

  /** The moves in notation, if the player requested text. */
  public List<String> moveTexts() {
    return message().getMoveTextsList();
  }

  /**
   * What happened since the bot last received an ask of this match, oldest first. This includes the
   * events of asks that the bot did not receive.
   */
  public List<E> events() {
    return events;
  }

  /** The events in notation, if the player requested text. */
  public List<String> eventTexts() {
    return untyped.allEvents().texts();
  }

  /** The moves among the events that the arena played in place of a bot at fault. */
  public List<PlayedFor> playedFor() {
    return untyped.allEvents().playedFor();
  }

  /**
   * The remaining time: the time of the move and the bank, less the time since the ask arrived.
   *
   * <p>It does not include the way from and to the arena. The message's clock has how long that and
   * the decision took last time.
   */
  public Duration timeLeft() {
    return untyped.timeLeft();
  }

  /**
   * What the random numbers of this decision are seeded with: 32 secret bytes, the same in every
   * language. They follow from the match's dice and the number of the decision. If the arena sent
   * no dice, the SDK draws some for the process.
   */
  public byte[] seed() {
    ByteString dice = match().start().getDice();
    ByteString key = dice.isEmpty() ? OWN_DICE.concat(Hashes.uint32(match().number())) : dice;
    return Hashes.hmac(key, Hashes.uint32(message().getDecision())).toByteArray();
  }

  /**
   * The random numbers of this decision: a SplittableRandom from the first 8 bytes of {@link
   * #seed}, created once.
   *
   * <p>A bot that takes all its chance from here plays the same again if dice and asks are the
   * same. Versions that are compared with common dice have the same numbers at the same decision,
   * so fewer deal-sets tell them apart.
   */
  public RandomGenerator random() {
    if (random == null) {
      random = new SplittableRandom(ByteBuffer.wrap(seed()).getLong());
    }
    return random;
  }

  /**
   * Whether the arena still waits for an answer. A bot that searches for a long time can check this
   * now and then.
   */
  public boolean isOpen() {
    return untyped.open;
  }
}
