/** The arena will not play with this bot, and asking again would not help. */
export class RefusedError extends Error {
  override name = "RefusedError";
}

/** The arena could not be reached for as long as the bot was to try. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

/** The bot was told to connect in a way that cannot work or is not safe. */
export class MisconfiguredError extends Error {
  override name = "MisconfiguredError";
}

/**
 * The arena was caught at lies about its deals. A bot that was lied to plays on; this comes when
 * play is over. Its `cause` is how play ended besides, if not in order.
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
