package cardarena;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * A folder of receipts, with a file for each deal-set: the JSON of docs/fair-deals.md.
 *
 * <p>Each bot needs a folder of its own. A restarted bot reads its entropy from it, because a
 * receipt is written before the bot reveals anything.
 */
final class ReceiptFolder {
  private static final String FORMAT = "fd2";
  private static final int CONTEXT_DIGITS = 16;
  private static final int PARTICIPANT_DIGITS = 8;
  private static final Gson JSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

  private final Path folder;

  /** Creates the folder if it does not exist. */
  ReceiptFolder(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  /** Writes the receipt of a deal-set. A failure leaves the previous receipt as it was. */
  void write(DealSet deal) throws IOException {
    Path path = folder.resolve(fileName(deal.setup.context(), deal.setup.participant()) + ".json");
    Path partial = path.resolveSibling(path.getFileName() + "." + pid() + ".partial");
    try {
      Files.deleteIfExists(partial);
      if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        // Only the owner can read it: the entropy is secret until the bot reveals it.
        Files.createFile(
            partial,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      }
      Files.writeString(partial, JSON.toJson(json(deal)) + "\n");
      Files.move(
          partial, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(partial);
    }
  }

  /**
   * Reads the receipt of a deal-set; null if there is no valid receipt. Without a participant, it
   * reads the receipt of any; null if there are several.
   */
  DealSet read(ByteString context, String participant) {
    String pattern =
        participant.isEmpty() ? fileName(context, "") + "*" : fileName(context, participant);
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, pattern + ".json")) {
      files.forEach(paths::add);
      if (paths.size() != 1) {
        return null;
      }
      JsonObject receipt = JSON.fromJson(Files.readString(paths.get(0)), JsonObject.class);
      boolean valid =
          FORMAT.equals(receipt.get("receipt").getAsString())
              && bytes(receipt, "context").equals(context);
      return valid ? dealSet(receipt) : null;
    } catch (IOException
        | JsonParseException
        | IllegalStateException
        | NullPointerException error) {
      return null; // no receipt, or not a complete one
    }
  }

  private static long pid() {
    return ProcessHandle.current().pid();
  }

  /**
   * The name of a receipt. It has a hash of the participant's name, because the arena may send a
   * name that is a path.
   */
  private static String fileName(ByteString context, String participant) {
    String suffix =
        participant.isEmpty()
            ? ""
            : Hashes.hex(Hashes.sha256(ByteString.copyFromUtf8(participant)), PARTICIPANT_DIGITS);
    return Hashes.hex(context, CONTEXT_DIGITS) + "-" + suffix;
  }

  private static JsonObject json(DealSet deal) {
    DealSet.Setup setup = deal.setup;
    DealSet.Opening opening = deal.opening;
    JsonObject all = new JsonObject();
    all.addProperty("receipt", FORMAT);
    all.add("context", hexOrNull(setup.context()));
    all.add("server_commitment", hexOrNull(setup.serverCommitment()));
    all.addProperty("participant", setup.participant());
    all.add("entropy", hexOrNull(setup.entropy()));
    all.add("commitment", hexOrNull(deal.commitment()));
    all.add("shown", hexOrNull(deal.shownCommitment));
    all.add("seal", hexOrNull(deal.seal));
    all.add("transcript", hexOrNull(deal.transcript()));
    all.add("public_key", hexOrNull(setup.publicKey()));
    all.add("signature", hexOrNull(deal.signature));
    all.addProperty("refused", deal.refused);
    all.add("deal", hexOrNull(opening == null ? ByteString.EMPTY : opening.deal()));
    all.add("secret", hexOrNull(opening == null ? ByteString.EMPTY : opening.secret()));
    all.add("commitments", hexByParticipant(opening == null ? null : opening.commitments()));
    all.add("entropies", hexByParticipant(opening == null ? null : opening.entropies()));
    all.add("salts", hexByParticipant(opening == null ? null : opening.salts()));
    all.add("deal_key", hexOrNull(deal.key()));
    all.addProperty("void_reason", deal.voidReason);
    all.add("lies", JSON.toJsonTree(deal.lies));
    JsonArray matches = new JsonArray();
    deal.chains.values().forEach(chain -> matches.add(json(chain)));
    all.add("matches", matches);
    return all;
  }

  private static JsonObject json(DealSet.AskChain chain) {
    JsonObject match = new JsonObject();
    match.addProperty("match", chain.matchNumber);
    match.addProperty("replay_id", chain.matchId.isEmpty() ? null : chain.matchId);
    match.addProperty("game", chain.game);
    match.addProperty("seat", chain.seat);
    JsonArray asks = new JsonArray();
    for (DealSet.ChainLink link : chain.links) {
      JsonArray pair = new JsonArray();
      pair.add(link.decision());
      pair.add(link.digits());
      asks.add(pair);
    }
    match.add("asks", asks);
    match.add("chain", hexOrNull(chain.hash));
    match.add("end", hexOrNull(chain.endSha256));
    match.add("last_sha256", hexOrNull(chain.lastSha256));
    return match;
  }

  private static DealSet dealSet(JsonObject receipt) {
    ByteString entropy = bytes(receipt, "entropy");
    DealSet deal =
        new DealSet(
            new DealSet.Setup(
                bytes(receipt, "context"),
                bytes(receipt, "server_commitment"),
                receipt.get("participant").getAsString(),
                bytes(receipt, "public_key"),
                entropy,
                entropy.isEmpty() ? bytes(receipt, "commitment") : ByteString.EMPTY));
    deal.shownCommitment = bytes(receipt, "shown");
    deal.seal = bytes(receipt, "seal");
    deal.signature = bytes(receipt, "signature");
    deal.refused = receipt.get("refused").getAsBoolean();
    if (!receipt.get("commitments").isJsonNull()) {
      deal.opening =
          new DealSet.Opening(
              bytes(receipt, "deal"),
              bytes(receipt, "secret"),
              byParticipant(receipt, "commitments"),
              byParticipant(receipt, "entropies"),
              byParticipant(receipt, "salts"));
    }
    deal.voidReason = receipt.get("void_reason").getAsString();
    receipt.getAsJsonArray("lies").forEach(lie -> deal.lies.add(lie.getAsString()));
    for (JsonElement each : receipt.getAsJsonArray("matches")) {
      DealSet.AskChain chain = chain(each.getAsJsonObject());
      deal.chains.put(chain.matchNumber, chain);
    }
    return deal;
  }

  private static DealSet.AskChain chain(JsonObject match) {
    JsonElement id = match.get("replay_id");
    DealSet.AskChain chain =
        new DealSet.AskChain(
            match.get("match").getAsInt(),
            match.get("game").getAsString(),
            match.get("seat").getAsInt(),
            id.isJsonNull() ? "" : id.getAsString());
    for (JsonElement each : match.getAsJsonArray("asks")) {
      JsonArray pair = each.getAsJsonArray();
      chain.links.add(new DealSet.ChainLink(pair.get(0).getAsInt(), pair.get(1).getAsString()));
    }
    chain.hash = bytes(match, "chain");
    chain.endSha256 = bytes(match, "end");
    chain.lastSha256 = bytes(match, "last_sha256");
    return chain;
  }

  /** Bytes in hexadecimal, or null if there are none. */
  private static JsonElement hexOrNull(ByteString bytes) {
    return bytes.isEmpty() ? JsonNull.INSTANCE : new JsonPrimitive(Hashes.hex(bytes));
  }

  private static ByteString bytes(JsonObject receipt, String name) {
    JsonElement text = receipt.get(name);
    return text.isJsonNull() ? ByteString.EMPTY : Hashes.bytes(text.getAsString());
  }

  private static JsonElement hexByParticipant(Map<String, ByteString> values) {
    if (values == null) {
      return JsonNull.INSTANCE;
    }
    JsonObject texts = new JsonObject();
    values.forEach((name, value) -> texts.addProperty(name, Hashes.hex(value)));
    return texts;
  }

  private static SortedMap<String, ByteString> byParticipant(JsonObject receipt, String name) {
    SortedMap<String, ByteString> values = Hashes.byParticipant();
    receipt
        .getAsJsonObject(name)
        .entrySet()
        .forEach(each -> values.put(each.getKey(), Hashes.bytes(each.getValue().getAsString())));
    return values;
  }
}
