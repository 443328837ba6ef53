package cardarena;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** One deal-set, as this bot knows it. */
final class Deal {
  /**
   * What a deal-set begins with: the bot's own 32 bytes are empty if this process never knew them,
   * and then {@code stood} is the commitment that the arena has of the bot.
   */
  record Terms(
      ByteString context,
      ByteString serverCommitment,
      String participant,
      ByteString publicKey,
      ByteString entropy,
      ByteString stood) {}

  /** A decision with the first 8 hexadecimal digits of the chain after it. */
  record Link(int decision, String digits) {}

  /** What the bot was shown in one match, as a chain of hashes over its asks. */
  static final class Shown {
    final int match;
    final String game;
    final int seat;
    String matchId;
    ByteString chain = Hashes.NO_COMMITMENT;
    final List<Link> asks = new ArrayList<>();

    /** Of the events that the end told; empty before. */
    ByteString end = ByteString.EMPTY;

    /** SHA-256 of the last ask's payload. */
    ByteString last = ByteString.EMPTY;

    Shown(int match, String game, int seat, String matchId) {
      this.match = match;
      this.game = game;
      this.seat = seat;
      this.matchId = matchId;
    }
  }

  /** What the arena opens of a deal-set when it is over, by participant. */
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

  final Terms terms;

  /** When the time to commit is over. */
  long dueNanos;

  /** Whether the bot was told of such a time. */
  boolean timed;

  /** Its commitment as it was shown, and the seal; empty before. */
  ByteString shown = ByteString.EMPTY;

  ByteString seal = ByteString.EMPTY;
  ByteString signature = ByteString.EMPTY;

  /** Whether nothing is revealed, as it was lied to. */
  boolean refused;

  /** Null before. */
  Opening opened;

  String voidReason = "";
  final List<String> lies = new ArrayList<>();
  final Map<Integer, Shown> matches = new LinkedHashMap<>();

  Deal(Terms terms) {
    this.terms = terms;
  }

  ByteString commitment() {
    return terms.entropy.isEmpty()
        ? terms.stood
        : Hashes.commitment(terms.context, terms.participant, terms.entropy);
  }

  /** Whether the bot's own entropy was shown to be in it. */
  boolean takesPart() {
    return !terms.entropy.isEmpty() && shown.equals(commitment());
  }

  /** The hash over all that the bot saw before it revealed; empty before. */
  ByteString transcript() {
    return shown.isEmpty()
        ? ByteString.EMPTY
        : Hashes.shown(terms.context, terms.serverCommitment, terms.participant, shown, seal);
  }

  /** What the packs follow from; empty before it is opened, and of a void deal. */
  ByteString key() {
    return shown.isEmpty() || opened == null || !voidReason.isEmpty()
        ? ByteString.EMPTY
        : Hashes.key(opened.transcript(), opened.secret, opened.entropies);
  }
}
