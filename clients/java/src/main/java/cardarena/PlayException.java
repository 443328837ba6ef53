package cardarena;

/**
 * Why play ended other than in order. There is little that a program can do about it but say so,
 * and so it is not checked.
 */
public abstract sealed class PlayException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PlayException(String message) {
    super(message);
  }

  /** The arena will not play with this bot, and asking again would not help. */
  public static final class Refused extends PlayException {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  /** The arena could not be reached for as long as the bot was to try. */
  public static final class Unreachable extends PlayException {
    private static final long serialVersionUID = 1;

    Unreachable(String message) {
      super(message);
    }
  }

  /** The bot was told to connect in a way that cannot work or is not safe. */
  public static final class Misconfigured extends PlayException {
    private static final long serialVersionUID = 1;

    Misconfigured(String message) {
      super(message);
    }

    Misconfigured(String message, Throwable cause) {
      super(message);
      initCause(cause);
    }
  }

  /**
   * The arena was caught at lies about its deals, which are the lines of the message. A bot that
   * was lied to plays on; this comes when play is over. Its cause is how play ended besides, if not
   * in order.
   */
  public static final class Lied extends PlayException {
    private static final long serialVersionUID = 1;

    Lied(String message, PlayException cause) {
      super(message);
      initCause(cause);
    }
  }
}
