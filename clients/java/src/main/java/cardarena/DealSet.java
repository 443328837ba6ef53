package cardarena;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** One deal-set, as this bot knows it. A receipt stores it. */
final class DealSet {
  private static final int NAME_DIGITS = 12;

  /**
   * What a deal-set starts with.
   *
   * @param context identifies the deal-set to this bot
   * @param serverCommitment the arena's commitment to its secret
   * @param entropy the bot's 32 bytes; empty if another process of this bot committed to them
   * @param priorCommitment the commitment that the arena already has, if the entropy is empty
   */
  record Setup(
      ByteString context,
      ByteString serverCommitment,
      String participant,
      ByteString publicKey,
      ByteString entropy,
      ByteString priorCommitment) {}

  /** A decision with the first 8 hexadecimal digits of the hash after it. */
  record ChainLink(int decision, String digits) {}

  /** A hash chain over the asks that the bot received in one match. */
  static final class AskChain {
    final int matchNumber;
    final String game;
    final int seat;
    String matchId;

    /** The hash after the last ask. */
    ByteString hash = Hashes.NO_COMMITMENT;

    final List<ChainLink> links = new ArrayList<>();

    /** SHA-256 of the events that came with the end of the match; empty before. */
    ByteString endSha256 = ByteString.EMPTY;

    /** SHA-256 of the payload of the last ask. */
    ByteString lastSha256 = ByteString.EMPTY;

    AskChain(int matchNumber, String game, int seat, String matchId) {
      this.matchNumber = matchNumber;
      this.game = game;
      this.seat = seat;
      this.matchId = matchId;
    }
  }

  /** What the arena publishes when a deal-set is over, by participant. */
  record Opening(
      ByteString deal,
      ByteString secret,
      SortedMap<String, ByteString> commitments,
      SortedMap<String, ByteString> entropies,
      SortedMap<String, ByteString> salts) {
    ByteString transcript() {
      return Hashes.transcript(deal, Hashes.serverCommitment(deal, secret), commitments);
    }
  }

  final Setup setup;

  /** When the time to commit ends. */
  long dueNanos;

  /** Whether the arena named a deadline. */
  boolean hasDeadline;

  /** The bot's commitment in the arena's transcript; empty before. */
  ByteString shownCommitment = ByteString.EMPTY;

  ByteString seal = ByteString.EMPTY;
  ByteString signature = ByteString.EMPTY;

  /** Whether the bot keeps its entropy to itself because the arena lied. */
  boolean refused;

  /** Null before the deal-set is over. */
  Opening opening;

  String voidReason = "";
  final List<String> lies = new ArrayList<>();

  /** By match number, in the order in which the matches started. */
  final Map<Integer, AskChain> chains = new LinkedHashMap<>();

  DealSet(Setup setup) {
    this.setup = setup;
  }

  /** The name of a deal-set in messages. */
  static String name(ByteString context) {
    return "deal-set " + Hashes.hex(context, NAME_DIGITS);
  }

  ByteString commitment() {
    return setup.entropy.isEmpty()
        ? setup.priorCommitment
        : Hashes.commitment(setup.context, setup.participant, setup.entropy);
  }

  /** Whether the transcript includes the bot's entropy. */
  boolean takesPart() {
    return !setup.entropy.isEmpty() && shownCommitment.equals(commitment());
  }

  /** The hash over everything that the bot saw before it revealed its entropy; empty before. */
  ByteString transcript() {
    return shownCommitment.isEmpty()
        ? ByteString.EMPTY
        : Hashes.viewTranscript(
            setup.context, setup.serverCommitment, setup.participant, shownCommitment, seal);
  }

  /**
   * The key from which all packs are derived; empty before the opening, and if the deal-set is
   * void.
   */
  ByteString key() {
    return shownCommitment.isEmpty() || opening == null || !voidReason.isEmpty()
        ? ByteString.EMPTY
        : Hashes.key(opening.transcript(), opening.secret, opening.entropies);
  }
}
