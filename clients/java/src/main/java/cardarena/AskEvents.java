package cardarena;

import cardarena.v1.PlayedFor;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;

/** The events of one or more asks. */
record AskEvents(List<Message> events, List<String> texts, List<PlayedFor> playedFor) {
  static final AskEvents NONE = new AskEvents(List.of(), List.of(), List.of());

  /** These events, followed by later ones. */
  AskEvents and(AskEvents later) {
    if (this == NONE) {
      return later;
    }
    int shift = events.size();
    List<PlayedFor> shifted =
        later.playedFor.stream()
            .map(one -> one.toBuilder().setEventsBefore(one.getEventsBefore() + shift).build())
            .toList();
    return new AskEvents(
        joined(events, later.events), joined(texts, later.texts), joined(playedFor, shifted));
  }

  private static <T> List<T> joined(List<T> first, List<T> second) {
    List<T> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }
}
