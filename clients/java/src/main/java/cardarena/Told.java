package cardarena;

import cardarena.v1.PlayedFor;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;

/** What came with asks: events, and which of them the arena played for a bot at fault. */
record Told(List<Message> events, List<String> texts, List<PlayedFor> playedFor) {
  /** Nothing. */
  static final Told NOTHING = new Told(List.of(), List.of(), List.of());

  /** This, and what came after it. */
  Told and(Told later) {
    if (this == NOTHING) {
      return later;
    }
    int shift = events.size();
    List<PlayedFor> shifted =
        later.playedFor.stream()
            .map(one -> one.toBuilder().setEventsBefore(one.getEventsBefore() + shift).build())
            .toList();
    return new Told(
        joined(events, later.events), joined(texts, later.texts), joined(playedFor, shifted));
  }

  private static <T> List<T> joined(List<T> one, List<T> other) {
    List<T> all = new ArrayList<>(one);
    all.addAll(other);
    return all;
  }
}
