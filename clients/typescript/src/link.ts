/** What the two threads of a bot say to each other: the stream's, and the author's. */

/** A choice, as the author's thread tells it. */
export type ChosenMove = {
  readonly askId: bigint;
  readonly note: string;
} & (
  | { readonly index: number }
  /** A GameMove, encoded. */
  | { readonly move: Uint8Array }
);

/** What the author's thread tells the stream's. */
export type ToStream = readonly ChosenMove[];

/** How play ended. */
export interface Over {
  readonly kind: "over";
  readonly error: { readonly name: string; readonly message: string } | undefined;
  readonly lies: readonly string[];
}

/** What the stream's thread tells the author's. A seat's number is given once in a process. */
export type ToAuthor =
  /** A match began; `start` is a MatchStart. */
  | { readonly kind: "started"; readonly seat: number; readonly start: Uint8Array }
  /** An ask came. One that is answered already is told for its events alone. */
  | {
      readonly kind: "ask";
      readonly seat: number;
      readonly askId: bigint;
      readonly ask: Uint8Array;
      readonly cameMs: number;
      readonly answered: boolean;
    }
  /** The last ask of a seat wants no answer any more. */
  | { readonly kind: "settled"; readonly seat: number; readonly askId: bigint }
  /** It wants one again. */
  | { readonly kind: "wanted"; readonly seat: number; readonly askId: bigint }
  /** A match ended; `end` is a MatchEnd. */
  | { readonly kind: "ended"; readonly seat: number; readonly end: Uint8Array }
  | { readonly kind: "say"; readonly level: "info" | "warn"; readonly line: string }
  | Over;

/** What the stream's thread is begun with. */
export interface StreamData {
  /** A Hello, encoded. */
  readonly hello: Uint8Array;
  readonly askForced: boolean;
  readonly address: string;
  readonly once: boolean;
  readonly receipts: string;
  readonly addsEntropy: boolean;
  readonly safety: Safety;
}

/** How far a connection may be trusted with the token. */
export interface Safety {
  readonly tls: TlsFiles | undefined;
  readonly insecure: boolean;
}

/** PEM, read from files; empty if there is none. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}
