/**
 * The messages between the two threads of a bot: the stream thread keeps the connection, the bot
 * thread calls the bots.
 *
 * @module
 */

/** A bot's choice. */
export type ChosenMove = {
  readonly askId: bigint;
  readonly note: string;
  /** When the bot's code received the ask, in `nowMs`; undefined if its code failed. */
  readonly deliveredMs?: number;
} & (
  | { readonly index: number }
  /** The bot failed. */
  | { readonly failed: true }
  /** An encoded GameMove. */
  | { readonly move: Uint8Array }
);

/** A message to the stream thread. */
export type ToStreamThread = readonly ChosenMove[];

/** How play ended. */
export interface PlayEnded {
  readonly kind: "playEnded";
  readonly error: { readonly name: string; readonly message: string } | undefined;
  /** What the arena lied about, one sentence each. */
  readonly lies: readonly string[];
}

/** A message to the bot thread. Each match of a process has a seat number of its own. */
export type ToBotThread =
  /** A match started. `start` is an encoded MatchStart. */
  | { readonly kind: "started"; readonly seat: number; readonly start: Uint8Array }
  /** An ask arrived. If it is already answered, the bot receives only its events, with the next ask. */
  | {
      readonly kind: "ask";
      readonly seat: number;
      readonly askId: bigint;
      readonly ask: Uint8Array;
      readonly receivedMs: number;
      readonly answered: boolean;
    }
  /** The last ask of a seat is closed. */
  | { readonly kind: "closed"; readonly seat: number; readonly askId: bigint }
  /** The last ask of a seat is open again. */
  | { readonly kind: "reopened"; readonly seat: number; readonly askId: bigint }
  /** A match ended. `end` is an encoded MatchEnd. */
  | { readonly kind: "ended"; readonly seat: number; readonly end: Uint8Array }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly line: string }
  | PlayEnded;

/** What the stream thread starts with. */
export interface StreamData {
  /** An encoded Hello. */
  readonly hello: Uint8Array;
  readonly askForced: boolean;
  readonly address: string;
  readonly once: boolean;
  readonly receipts: string;
  readonly addsEntropy: boolean;
  readonly security: Security;
}

/** How a connection protects the token. */
export interface Security {
  /** Undefined for plain text. */
  readonly tls: TlsFiles | undefined;
  readonly insecure: boolean;
}

/** The contents of PEM files. Each is empty if there is no file. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}
