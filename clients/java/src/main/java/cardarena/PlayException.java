package cardarena;

/**
 * Why play ended with an error. It is unchecked, because a program can rarely do more than report
 * it.
 */
public abstract sealed class PlayException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PlayException(String message) {
    super(message);
  }

  /** The arena does not accept this bot. Another attempt would give the same result. */
  public static final class Refused extends PlayException {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  /** The bot could not connect to the arena within the time it had. */
  public static final class Unreachable extends PlayException {
    private static final long serialVersionUID = 1;

    Unreachable(String message) {
      super(message);
    }
  }

  /** The options do not work together, name a bad file, or would send the token unprotected. */
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
   * The arena lied about its deals. Each line of the message is a lie.
   *
   * <p>The bot plays to the end; then play throws this exception. Its cause is the other exception
   * with which play ended, if any.
   */
  public static final class Lied extends PlayException {
    private static final long serialVersionUID = 1;

    Lied(String message, PlayException cause) {
      super(message);
      initCause(cause);
    }
  }
}
