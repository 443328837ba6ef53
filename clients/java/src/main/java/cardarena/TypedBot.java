package cardarena;

import cardarena.v1.Answer;
import com.google.protobuf.Message;

/** A bot of any game, which is given asks of its own types. */
record TypedBot<V extends Message, M extends Message, E extends Message>(
    Types<V, M, E> types, Bot<V, M, E> bot) {

  /** The bot's answer. An ask of another game is an error, as is whatever the bot throws. */
  Answer answer(UntypedAsk ask) throws Exception {
    return bot.move(new Ask<>(ask, types)).answer(ask);
  }

  void ended(End end) throws Exception {
    bot.ended(end);
  }
}
