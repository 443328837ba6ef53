import {
  type ByParticipant,
  commitmentOf,
  keyOf,
  same,
  serverCommitmentOf,
  shownOf,
  transcriptOf,
} from "./protocol.js";

/** A decision with the first 8 hexadecimal digits of the chain after it. */
export type Link = readonly [decision: number, digits: string];

/** What the bot was shown in one match, as a chain of hashes over its asks. */
export interface Shown {
  readonly match: number;
  readonly game: string;
  readonly seat: number;
  /** Empty if it was not told. */
  matchId: string;
  chain: Uint8Array;
  readonly asks: Link[];
  /** Of the events that the end told; undefined before. */
  end: Uint8Array | undefined;
  /** SHA-256 of the last ask's payload. */
  last: Uint8Array | undefined;
}

/** What the arena opens of a deal-set when it is over. */
export interface Opening {
  readonly deal: Uint8Array;
  readonly secret: Uint8Array;
  readonly commitments: ByParticipant;
  readonly entropies: ByParticipant;
  readonly salts: ByParticipant;
}

/** The transcript that an opening comes to. */
export function openedTranscript(opened: Opening): Buffer {
  const { deal, secret, commitments } = opened;
  return transcriptOf(deal, serverCommitmentOf(deal, secret), commitments);
}

/** What a deal-set begins with. */
interface Terms {
  readonly context: Uint8Array;
  readonly serverCommitment: Uint8Array;
  readonly participant: string;
  readonly publicKey: Uint8Array;
  /** The bot's own 32 bytes; empty if this process never knew them. */
  readonly entropy: Uint8Array;
  /** Then the commitment that the arena has of the bot. */
  readonly stood: Uint8Array;
}

/** One deal-set, as this bot knows it. */
export class Deal {
  readonly context: Uint8Array;
  readonly serverCommitment: Uint8Array;
  readonly participant: string;
  readonly publicKey: Uint8Array;
  readonly entropy: Uint8Array;
  readonly #stood: Uint8Array;
  /** When the time to commit is over. */
  dueMs = Number.NEGATIVE_INFINITY;
  /** Its commitment as it was shown, and the seal; undefined before. */
  shown: Uint8Array | undefined;
  seal: Uint8Array | undefined;
  signature: Uint8Array = new Uint8Array();
  /** Whether nothing is revealed, as it was lied to. */
  refused = false;
  opened: Opening | undefined;
  voidReason = "";
  readonly lies: string[] = [];
  readonly matches = new Map<number, Shown>();

  constructor(terms: Terms) {
    this.context = terms.context;
    this.serverCommitment = terms.serverCommitment;
    this.participant = terms.participant;
    this.publicKey = terms.publicKey;
    this.entropy = terms.entropy;
    this.#stood = terms.stood;
  }

  get commitment(): Uint8Array {
    return this.entropy.length > 0
      ? commitmentOf(this.context, this.participant, this.entropy)
      : this.#stood;
  }

  /** Whether the bot's own entropy was shown to be in it. */
  get takesPart(): boolean {
    return this.entropy.length > 0 && same(this.shown, this.commitment);
  }

  /** The hash over all that the bot saw before it revealed; undefined before. */
  get transcript(): Uint8Array | undefined {
    return this.shown && this.seal
      ? shownOf(this.context, this.serverCommitment, this.participant, this.shown, this.seal)
      : undefined;
  }

  /** What the packs follow from; undefined before it is opened, and of a void deal. */
  get key(): Uint8Array | undefined {
    return this.shown && this.opened && !this.voidReason
      ? keyOf(openedTranscript(this.opened), this.opened.secret, this.opened.entropies)
      : undefined;
  }
}
