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

/** Hashes and receipts are as in the vectors of the arena's tests. */
class DealsTest {
  private static final Path VECTORS = Path.of("../../tests/referee/deal");

  private static JsonElement read(String name) throws IOException {
    return JsonParser.parseString(Files.readString(VECTORS.resolve(name)));
  }

  private static SortedMap<String, ByteString> named(JsonObject texts) {
    SortedMap<String, ByteString> found = Hashes.byParticipant();
    for (Map.Entry<String, JsonElement> each : texts.entrySet()) {
      found.put(each.getKey(), Hashes.bytes(each.getValue().getAsString()));
    }
    return found;
  }

  private static ByteString bytes(JsonObject vector, String name) {
    return Hashes.bytes(vector.get(name).getAsString());
  }

  @Test
  void hashesAreAsInTheVectors() throws IOException {
    JsonArray vectors = read("fd2_vectors.json").getAsJsonArray();
    assertEquals(false, vectors.isEmpty());
    for (JsonElement each : vectors) {
      JsonObject vector = each.getAsJsonObject();
      SortedMap<String, ByteString> commitments = named(vector.getAsJsonObject("commits"));
      SortedMap<String, ByteString> drawn = named(vector.getAsJsonObject("r"));
      SortedMap<String, ByteString> entropies = Hashes.byParticipant();
      commitments.keySet().forEach(n -> entropies.put(n, drawn.getOrDefault(n, ByteString.EMPTY)));
      SortedMap<String, ByteString> salts = named(vector.getAsJsonObject("salts"));
      DealSet.Opening opening =
          new DealSet.Opening(
              bytes(vector, "ctx"), bytes(vector, "S"), commitments, entropies, salts);
      ByteString transcript = opening.transcript();
      assertEquals(bytes(vector, "T"), transcript);
      assertEquals(bytes(vector, "K"), Hashes.key(transcript, opening.secret(), entropies));
      for (String name : salts.keySet()) {
        ByteString view = Hashes.view(opening.deal(), name, salts.get(name));
        ByteString server = Hashes.serverCommitment(view, opening.secret());
        ByteString seal = Hashes.seal(view, transcript, salts.get(name));
        assertEquals(bytes(vector.getAsJsonObject("views"), name), view);
        assertEquals(bytes(vector.getAsJsonObject("server_commits"), name), server);
        assertEquals(bytes(vector.getAsJsonObject("seals"), name), seal);
        assertEquals(
            bytes(vector.getAsJsonObject("view_transcripts"), name),
            Hashes.viewTranscript(view, server, name, commitments.get(name), seal));
      }
    }
  }

  @Test
  void aReceiptIsAsInTheVectorsAndIsReadBackAsItWasWritten(@TempDir Path folder)
      throws IOException {
    JsonObject vector = read("receipt_vectors.json").getAsJsonObject();
    ReceiptFolder receipts = new ReceiptFolder(folder);
    Deals deals = new Deals(receipts, () -> bytes(vector, "bot_draws"));
    Session session = new Session(Hello.getDefaultInstance(), true, deals, task -> {});
    session.streamOpened(new Outbox());
    for (JsonElement text : vector.getAsJsonArray("arena_says")) {
      session.receive(ArenaMessage.parseFrom(Hashes.bytes(text.getAsString())), 0);
    }
    Path file;
    try (var files = Files.list(folder)) {
      file = files.findFirst().orElseThrow();
    }
    String written = Files.readString(file);
    assertEquals(vector.get("receipt"), JsonParser.parseString(written));
    DealSet deal = receipts.read(bytes(vector.getAsJsonObject("receipt"), "context"), "");
    assertNotNull(deal);
    receipts.write(deal);
    assertEquals(written, Files.readString(file));
  }
}
