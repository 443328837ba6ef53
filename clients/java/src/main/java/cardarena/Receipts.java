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
 * A folder of receipts, one file for each deal-set: the JSON of docs/fair-deals.md. It belongs to
 * one bot alone: a bot that is restarted finds its entropy there, as a receipt is written before
 * anything is revealed.
 */
final class Receipts {
  private static final String FORMAT = "fd2";
  private static final int NAME_DIGITS = 16;
  private static final int PARTICIPANT_DIGITS = 8;
  private static final Gson JSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

  private final Path folder;

  /** Makes the folder, if it is not there. */
  Receipts(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  /** Writes a deal as it is now, whole or not at all. */
  void keep(Deal deal) throws IOException {
    Path path = folder.resolve(fileName(deal.terms.context(), deal.terms.participant()) + ".json");
    Path partial = path.resolveSibling(path.getFileName() + "." + pid() + ".partial");
    try {
      Files.deleteIfExists(partial);
      if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        // Before it is revealed, the entropy is nobody else's business.
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

  /** The deal that was kept, of any participant if none is named; null unless there is one. */
  Deal recall(ByteString context, String participant) {
    String own =
        participant.isEmpty() ? fileName(context, "") + "*" : fileName(context, participant);
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, own + ".json")) {
      files.forEach(found::add);
      if (found.size() != 1) {
        return null;
      }
      JsonObject kept = JSON.fromJson(Files.readString(found.get(0)), JsonObject.class);
      boolean ours =
          FORMAT.equals(kept.get("receipt").getAsString())
              && bytes(kept, "context").equals(context);
      return ours ? deal(kept) : null;
    } catch (IOException
        | JsonParseException
        | IllegalStateException
        | NullPointerException error) {
      return null; // no receipt, or not a whole one
    }
  }

  private static long pid() {
    return ProcessHandle.current().pid();
  }

  /** What a receipt is filed under. Whatever the arena calls a participant, it is no path. */
  private static String fileName(ByteString context, String participant) {
    String own =
        participant.isEmpty()
            ? ""
            : Hashes.hex(Hashes.sha256(ByteString.copyFromUtf8(participant)), PARTICIPANT_DIGITS);
    return Hashes.hex(context, NAME_DIGITS) + "-" + own;
  }

  private static JsonObject json(Deal deal) {
    Deal.Terms terms = deal.terms;
    Deal.Opening opened = deal.opened;
    JsonObject all = new JsonObject();
    all.addProperty("receipt", FORMAT);
    all.add("context", digits(terms.context()));
    all.add("server_commitment", digits(terms.serverCommitment()));
    all.addProperty("participant", terms.participant());
    all.add("entropy", digits(terms.entropy()));
    all.add("commitment", digits(deal.commitment()));
    all.add("shown", digits(deal.shown));
    all.add("seal", digits(deal.seal));
    all.add("transcript", digits(deal.transcript()));
    all.add("public_key", digits(terms.publicKey()));
    all.add("signature", digits(deal.signature));
    all.addProperty("refused", deal.refused);
    all.add("deal", digits(opened == null ? ByteString.EMPTY : opened.deal()));
    all.add("secret", digits(opened == null ? ByteString.EMPTY : opened.secret()));
    all.add("commitments", named(opened == null ? null : opened.commitments()));
    all.add("entropies", named(opened == null ? null : opened.entropies()));
    all.add("salts", named(opened == null ? null : opened.salts()));
    all.add("deal_key", digits(deal.key()));
    all.addProperty("void_reason", deal.voidReason);
    all.add("lies", JSON.toJsonTree(deal.lies));
    JsonArray matches = new JsonArray();
    deal.matches.values().forEach(shown -> matches.add(json(shown)));
    all.add("matches", matches);
    return all;
  }

  private static JsonObject json(Deal.Shown shown) {
    JsonObject one = new JsonObject();
    one.addProperty("match", shown.match);
    one.addProperty("replay_id", shown.matchId.isEmpty() ? null : shown.matchId);
    one.addProperty("game", shown.game);
    one.addProperty("seat", shown.seat);
    JsonArray asks = new JsonArray();
    for (Deal.Link link : shown.asks) {
      JsonArray pair = new JsonArray();
      pair.add(link.decision());
      pair.add(link.digits());
      asks.add(pair);
    }
    one.add("asks", asks);
    one.add("chain", digits(shown.chain));
    one.add("end", digits(shown.end));
    one.add("last_sha256", digits(shown.last));
    return one;
  }

  private static Deal deal(JsonObject kept) {
    ByteString entropy = bytes(kept, "entropy");
    Deal deal =
        new Deal(
            new Deal.Terms(
                bytes(kept, "context"),
                bytes(kept, "server_commitment"),
                kept.get("participant").getAsString(),
                bytes(kept, "public_key"),
                entropy,
                entropy.isEmpty() ? bytes(kept, "commitment") : ByteString.EMPTY));
    deal.shown = bytes(kept, "shown");
    deal.seal = bytes(kept, "seal");
    deal.signature = bytes(kept, "signature");
    deal.refused = kept.get("refused").getAsBoolean();
    if (!kept.get("commitments").isJsonNull()) {
      deal.opened =
          new Deal.Opening(
              bytes(kept, "deal"),
              bytes(kept, "secret"),
              byName(kept, "commitments"),
              byName(kept, "entropies"),
              byName(kept, "salts"));
    }
    deal.voidReason = kept.get("void_reason").getAsString();
    kept.getAsJsonArray("lies").forEach(lie -> deal.lies.add(lie.getAsString()));
    for (JsonElement each : kept.getAsJsonArray("matches")) {
      Deal.Shown shown = shown(each.getAsJsonObject());
      deal.matches.put(shown.match, shown);
    }
    return deal;
  }

  private static Deal.Shown shown(JsonObject one) {
    JsonElement id = one.get("replay_id");
    Deal.Shown shown =
        new Deal.Shown(
            one.get("match").getAsInt(),
            one.get("game").getAsString(),
            one.get("seat").getAsInt(),
            id.isJsonNull() ? "" : id.getAsString());
    for (JsonElement each : one.getAsJsonArray("asks")) {
      JsonArray pair = each.getAsJsonArray();
      shown.asks.add(new Deal.Link(pair.get(0).getAsInt(), pair.get(1).getAsString()));
    }
    shown.chain = bytes(one, "chain");
    shown.end = bytes(one, "end");
    shown.last = bytes(one, "last_sha256");
    return shown;
  }

  /** Bytes in hexadecimal; null where there are none yet. */
  private static JsonElement digits(ByteString bytes) {
    return bytes.isEmpty() ? JsonNull.INSTANCE : new JsonPrimitive(Hashes.hex(bytes));
  }

  private static ByteString bytes(JsonObject kept, String name) {
    JsonElement text = kept.get(name);
    return text.isJsonNull() ? ByteString.EMPTY : Hashes.bytes(text.getAsString());
  }

  private static JsonElement named(Map<String, ByteString> values) {
    if (values == null) {
      return JsonNull.INSTANCE;
    }
    JsonObject texts = new JsonObject();
    values.forEach((name, value) -> texts.addProperty(name, Hashes.hex(value)));
    return texts;
  }

  private static SortedMap<String, ByteString> byName(JsonObject kept, String name) {
    SortedMap<String, ByteString> found = Hashes.byName();
    kept.getAsJsonObject(name)
        .entrySet()
        .forEach(each -> found.put(each.getKey(), Hashes.bytes(each.getValue().getAsString())));
    return found;
  }
}
