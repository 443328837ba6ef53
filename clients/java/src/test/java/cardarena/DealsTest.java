package cardarena;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import cardarena.v1.ArenaMessage;
import cardarena.v1.Hello;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hashes and receipts are those of the arena's own vectors. */
class DealsTest {
  private static final Path VECTORS = Path.of("../../tests/deal");

  private static JsonElement read(String name) throws IOException {
    return JsonParser.parseString(Files.readString(VECTORS.resolve(name)));
  }

  private static SortedMap<String, ByteString> named(JsonObject texts) {
    SortedMap<String, ByteString> found = Hashes.byName();
    for (Map.Entry<String, JsonElement> each : texts.entrySet()) {
      found.put(each.getKey(), Hashes.bytes(each.getValue().getAsString()));
    }
    return found;
  }

  private static ByteString bytes(JsonObject vector, String name) {
    return Hashes.bytes(vector.get(name).getAsString());
  }

  @Test
  void hashesAreThoseOfTheVectors() throws IOException {
    JsonArray vectors = read("fd2_vectors.json").getAsJsonArray();
    assertEquals(false, vectors.isEmpty());
    for (JsonElement each : vectors) {
      JsonObject vector = each.getAsJsonObject();
      SortedMap<String, ByteString> commitments = named(vector.getAsJsonObject("commits"));
      SortedMap<String, ByteString> drawn = named(vector.getAsJsonObject("r"));
      SortedMap<String, ByteString> entropies = Hashes.byName();
      commitments.keySet().forEach(n -> entropies.put(n, drawn.getOrDefault(n, ByteString.EMPTY)));
      SortedMap<String, ByteString> salts = named(vector.getAsJsonObject("salts"));
      Deal.Opening opened =
          new Deal.Opening(bytes(vector, "ctx"), bytes(vector, "S"), commitments, entropies, salts);
      ByteString transcript = opened.transcript();
      assertEquals(bytes(vector, "T"), transcript);
      assertEquals(bytes(vector, "K"), Hashes.key(transcript, opened.secret(), entropies));
      for (String name : salts.keySet()) {
        ByteString view = Hashes.view(opened.deal(), name, salts.get(name));
        ByteString server = Hashes.serverCommitment(view, opened.secret());
        ByteString seal = Hashes.seal(view, transcript, salts.get(name));
        assertEquals(bytes(vector.getAsJsonObject("views"), name), view);
        assertEquals(bytes(vector.getAsJsonObject("server_commits"), name), server);
        assertEquals(bytes(vector.getAsJsonObject("seals"), name), seal);
        assertEquals(
            bytes(vector.getAsJsonObject("view_transcripts"), name),
            Hashes.shown(view, server, name, commitments.get(name), seal));
      }
    }
  }

  @Test
  void aReceiptIsThatOfTheVectorsAndIsReadBackAsItWasWritten(@TempDir Path folder)
      throws IOException {
    JsonObject vector = read("receipt_vectors.json").getAsJsonObject();
    Receipts receipts = new Receipts(folder);
    Deals deals = new Deals(receipts, () -> bytes(vector, "bot_draws"));
    Session session = new Session(Hello.getDefaultInstance(), true, deals, work -> {});
    session.opened(new Outbox());
    for (JsonElement text : vector.getAsJsonArray("arena_says")) {
      session.receive(ArenaMessage.parseFrom(Hashes.bytes(text.getAsString())), 0);
    }
    Path file;
    try (var files = Files.list(folder)) {
      file = files.findFirst().orElseThrow();
    }
    String written = Files.readString(file);
    assertEquals(vector.get("receipt"), JsonParser.parseString(written));
    Deal deal = receipts.recall(bytes(vector.getAsJsonObject("receipt"), "context"), "");
    assertNotNull(deal);
    receipts.keep(deal);
    assertEquals(written, Files.readString(file));
  }
}
