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

  /** The commitment of who takes no part. */
  static final ByteString NO_COMMITMENT = ByteString.copyFrom(new byte[HASH_BYTES]);

  private Hashes() {}

  /** Byte strings with their lengths, so that no two lists of them look alike. */
  static ByteString joined(ByteString... parts) {
    ByteString all = ByteString.EMPTY;
    for (ByteString part : parts) {
      all = all.concat(uint32(part.size())).concat(part);
    }
    return all;
  }

  /** A number in four bytes, the highest first. */
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
      throw new IllegalStateException("every Java has SHA-256", error);
    }
  }

  /** The protocol's hash for one purpose. */
  static ByteString digest(String label, ByteString... parts) {
    Stream<ByteString> head = Stream.of(text("fd1"), text(label));
    return sha256(joined(Stream.concat(head, Arrays.stream(parts)).toArray(ByteString[]::new)));
  }

  static ByteString commitment(ByteString context, String name, ByteString entropy) {
    return digest("bot-commit", context, text(name), entropy);
  }

  /** What the arena commits to its secret with. */
  static ByteString serverCommitment(ByteString context, ByteString secret) {
    return digest("server-commit", context, secret);
  }

  /** The context of a deal-set as one participant is told it. */
  static ByteString view(ByteString deal, String name, ByteString salt) {
    return digest("view", deal, text(name), salt);
  }

  /** What binds the arena to a transcript that it does not show yet. */
  static ByteString seal(ByteString context, ByteString transcript, ByteString salt) {
    return digest("seal", context, transcript, salt);
  }

  /** Ties together all that one participant is shown before it reveals. */
  static ByteString shown(
      ByteString context,
      ByteString serverCommitment,
      String name,
      ByteString commitment,
      ByteString seal) {
    return digest(
        "view-transcript", context, serverCommitment, joined(text(name), commitment), seal);
  }

  static ByteString transcript(
      ByteString context, ByteString serverCommitment, Map<String, ByteString> commitments) {
    Stream<ByteString> head = Stream.of(context, serverCommitment);
    return digest("transcript", Stream.concat(head, pairs(commitments)).toArray(ByteString[]::new));
  }

  /** What all packs of the deal-set follow from. */
  static ByteString key(
      ByteString transcript, ByteString secret, Map<String, ByteString> entropies) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(transcript.toByteArray(), "HmacSHA256"));
      ByteString[] parts =
          Stream.concat(Stream.of(secret), pairs(entropies)).toArray(ByteString[]::new);
      return ByteString.copyFrom(mac.doFinal(joined(parts).toByteArray()));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException("every Java has HMAC-SHA-256", error);
    }
  }

  /** The first of so many hexadecimal digits; all if there are fewer. */
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

  /** A map whose names are in the protocol's order, that of their bytes. */
  static SortedMap<String, ByteString> byName() {
    return new TreeMap<>(
        (one, other) ->
            ByteString.unsignedLexicographicalComparator().compare(text(one), text(other)));
  }

  private static Stream<ByteString> pairs(Map<String, ByteString> values) {
    SortedMap<String, ByteString> sorted = byName();
    sorted.putAll(values);
    return sorted.entrySet().stream().map(each -> joined(text(each.getKey()), each.getValue()));
  }

  private static ByteString text(String words) {
    return ByteString.copyFromUtf8(words);
  }
}
