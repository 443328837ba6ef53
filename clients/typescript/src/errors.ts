/** The arena does not accept this bot. Another attempt would give the same result. */
export class RefusedError extends Error {
  override name = "RefusedError";
}

/** The bot could not connect to the arena within the time it had. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

/** The options do not work together, name a bad file, or would send the token unprotected. */
export class MisconfiguredError extends Error {
  override name = "MisconfiguredError";
}

/**
 * The arena lied about its deals. The bot plays to the end; then `play` throws this error.
 *
 * Its `cause` is the other error with which play ended, if any.
 */
export class LiedError extends Error {
  override name = "LiedError";

  constructor(
    readonly lies: readonly string[],
    options?: ErrorOptions,
  ) {
    super(lies.join("\n"), options);
  }
}
