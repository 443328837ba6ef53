package cardarena;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.stream.IntStream;

/** The games' own messages in the oneof game of messages of any game. */
final class GameMessages {
  private GameMessages() {}

  /** The field of oneof game that is set; null if none is. */
  static FieldDescriptor field(Message message) {
    return message.getDescriptorForType().getOneofs().stream()
        .filter(oneof -> oneof.getName().equals("game"))
        .findFirst()
        .map(message::getOneofFieldDescriptor)
        .orElse(null);
  }

  /** The message that is set in oneof game; null if none is. */
  static Message of(Message message) {
    FieldDescriptor field = field(message);
    return field == null ? null : (Message) message.getField(field);
  }

  /** The messages that are set in the oneof game of several messages. */
  static List<Message> of(List<? extends Message> messages) {
    return messages.stream().filter(each -> field(each) != null).map(GameMessages::of).toList();
  }

  /** A field that is a list of messages. */
  static List<Message> list(Message body, String name) {
    FieldDescriptor field = body.getDescriptorForType().findFieldByName(name);
    return IntStream.range(0, body.getRepeatedFieldCount(field))
        .mapToObj(place -> (Message) body.getRepeatedField(field, place))
        .toList();
  }
}
