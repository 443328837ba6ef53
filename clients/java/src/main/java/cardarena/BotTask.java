package cardarena;

/** A call of the bot that is due. */
sealed interface BotTask {
  /** The match of the task. */
  Match match();

  /** A match started. */
  record Started(Match match) implements BotTask {}

  /** An ask is queued. */
  record Asked(UntypedAsk ask) implements BotTask {
    @Override
    public Match match() {
      return ask.match();
    }
  }

  /** A match ended. */
  record Ended(End end) implements BotTask {
    @Override
    public Match match() {
      return end.match();
    }
  }
}
