package cardarena;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The hashes of fair deals, protocol fd2 of docs/fair-deals.md. */
final class Hashes {
  static final int HASH_BYTES = 32;
  static final int SALT_BYTES = 32;
  static final int SIGNATURE_BYTES = 64;

  /** The commitment of a participant that adds no entropy. */
  static final ByteString NO_COMMITMENT = ByteString.copyFrom(new byte[HASH_BYTES]);

  private Hashes() {}

  /**
   * Concatenates byte strings, each after its length, so that different lists give different bytes.
   */
  static ByteString joined(ByteString... parts) {
    ByteString all = ByteString.EMPTY;
    for (ByteString part : parts) {
      all = all.concat(uint32(part.size())).concat(part);
    }
    return all;
  }

  /** A number as four bytes, big-endian. */
  static ByteString uint32(int value) {
    return ByteString.copyFrom(ByteBuffer.allocate(Integer.BYTES).putInt(value).flip());
  }

  static ByteString sha256(ByteString... parts) {
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-256");
      for (ByteString part : parts) {
        hash.update(part.asReadOnlyByteBuffer());
      }
      return ByteString.copyFrom(hash.digest());
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException("Java has no SHA-256", error);
    }
  }

  /** The protocol's hash, with a label for each purpose. */
  static ByteString digest(String label, ByteString... parts) {
    Stream<ByteString> head = Stream.of(text("fd1"), text(label));
    return sha256(joined(Stream.concat(head, Arrays.stream(parts)).toArray(ByteString[]::new)));
  }

  /** A participant's commitment to its entropy. */
  static ByteString commitment(ByteString context, String name, ByteString entropy) {
    return digest("bot-commit", context, text(name), entropy);
  }

  /** The arena's commitment to its secret. */
  static ByteString serverCommitment(ByteString context, ByteString secret) {
    return digest("server-commit", context, secret);
  }

  /** The context that identifies a deal-set to one participant. */
  static ByteString view(ByteString deal, String name, ByteString salt) {
    return digest("view", deal, text(name), salt);
  }

  /** Binds the arena to a transcript before it publishes it. */
  static ByteString seal(ByteString context, ByteString transcript, ByteString salt) {
    return digest("seal", context, transcript, salt);
  }

  /** Binds everything that one participant sees before it reveals its entropy. */
  static ByteString viewTranscript(
      ByteString context,
      ByteString serverCommitment,
      String name,
      ByteString commitment,
      ByteString seal) {
    return digest(
        "view-transcript", context, serverCommitment, joined(text(name), commitment), seal);
  }

  /** Binds all commitments of a deal-set. */
  static ByteString transcript(
      ByteString context, ByteString serverCommitment, Map<String, ByteString> commitments) {
    Stream<ByteString> head = Stream.of(context, serverCommitment);
    return digest("transcript", Stream.concat(head, pairs(commitments)).toArray(ByteString[]::new));
  }

  /** The key from which all packs of the deal-set are derived. */
  static ByteString key(
      ByteString transcript, ByteString secret, Map<String, ByteString> entropies) {
    ByteString[] parts =
        Stream.concat(Stream.of(secret), pairs(entropies)).toArray(ByteString[]::new);
    return hmac(transcript, joined(parts));
  }

  /**
   * One a thread: to find the algorithm takes longer than the hash, and threads wait for each
   * other.
   */
  private static final ThreadLocal<Mac> MAC = ThreadLocal.withInitial(Hashes::newMac);

  private static Mac newMac() {
    try {
      return Mac.getInstance("HmacSHA256");
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException("Java has no HMAC-SHA-256", error);
    }
  }

  static ByteString hmac(ByteString key, ByteString message) {
    try {
      Mac mac = MAC.get();
      mac.init(new SecretKeySpec(key.toByteArray(), "HmacSHA256"));
      return ByteString.copyFrom(mac.doFinal(message.toByteArray()));
    } catch (GeneralSecurityException error) {
      throw new IllegalArgumentException("no key of HMAC-SHA-256", error);
    }
  }

  /** The first hexadecimal digits of bytes. */
  static String hex(ByteString bytes, int digits) {
    String all = hex(bytes);
    return all.substring(0, Math.min(digits, all.length()));
  }

  static String hex(ByteString bytes) {
    return java.util.HexFormat.of().formatHex(bytes.toByteArray());
  }

  static ByteString bytes(String hex) {
    return ByteString.copyFrom(java.util.HexFormat.of().parseHex(hex));
  }

  /** A map by participant, in the protocol's order, that of the bytes of the names. */
  static SortedMap<String, ByteString> byParticipant() {
    return new TreeMap<>(
        (one, other) ->
            ByteString.unsignedLexicographicalComparator().compare(text(one), text(other)));
  }

  private static Stream<ByteString> pairs(Map<String, ByteString> values) {
    SortedMap<String, ByteString> sorted = byParticipant();
    sorted.putAll(values);
    return sorted.entrySet().stream().map(each -> joined(text(each.getKey()), each.getValue()));
  }

  private static ByteString text(String chars) {
    return ByteString.copyFromUtf8(chars);
  }
}
