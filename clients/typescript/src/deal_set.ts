import {
  type ByParticipant,
  commitmentOf,
  hex,
  keyOf,
  same,
  serverCommitmentOf,
  transcriptOf,
  viewTranscriptOf,
} from "./hashes.js";

/** A decision with the first 8 hexadecimal digits of the hash after it. */
export type ChainLink = readonly [decision: number, digits: string];

/** A hash chain over the asks that the bot received in one match. */
export interface AskChain {
  readonly matchNumber: number;
  readonly game: string;
  readonly seat: number;
  /** Empty if the arena did not send it. */
  matchId: string;
  /** The hash after the last ask. */
  hash: Uint8Array;
  readonly links: ChainLink[];
  /** SHA-256 of the events that came with the end of the match; undefined before. */
  endSha256: Uint8Array | undefined;
  /** SHA-256 of the payload of the last ask. */
  lastSha256: Uint8Array | undefined;
}

/** What the arena publishes when a deal-set is over. */
export interface Opening {
  readonly deal: Uint8Array;
  readonly secret: Uint8Array;
  readonly commitments: ByParticipant;
  readonly entropies: ByParticipant;
  readonly salts: ByParticipant;
}

/** The transcript that follows from an opening. */
export function openedTranscript(opening: Opening): Buffer {
  const { deal, secret, commitments } = opening;
  return transcriptOf(deal, serverCommitmentOf(deal, secret), commitments);
}

/** What a deal-set starts with. */
interface Setup {
  /** Identifies the deal-set to this bot. */
  readonly context: Uint8Array;
  /** The arena's commitment to its secret. */
  readonly serverCommitment: Uint8Array;
  readonly participant: string;
  readonly publicKey: Uint8Array;
  /** The bot's 32 bytes; empty if another process of this bot committed to them. */
  readonly entropy: Uint8Array;
  /** The commitment that the arena already has, if `entropy` is empty. */
  readonly priorCommitment: Uint8Array;
}

/** One deal-set, as this bot knows it. A receipt stores it. */
export class DealSet {
  readonly context: Uint8Array;
  readonly serverCommitment: Uint8Array;
  readonly participant: string;
  readonly publicKey: Uint8Array;
  readonly entropy: Uint8Array;
  readonly #priorCommitment: Uint8Array;
  /** When the time to commit ends. */
  dueMs = Number.NEGATIVE_INFINITY;
  /** The bot's commitment in the arena's transcript; undefined before. */
  shownCommitment: Uint8Array | undefined;
  seal: Uint8Array | undefined;
  signature: Uint8Array = new Uint8Array();
  /** Whether the bot keeps its entropy to itself because the arena lied. */
  refused = false;
  /** Undefined before the deal-set is over. */
  opening: Opening | undefined;
  voidReason = "";
  readonly lies: string[] = [];
  /** By match number, in the order in which the matches started. */
  readonly chains = new Map<number, AskChain>();

  constructor(setup: Setup) {
    this.context = setup.context;
    this.serverCommitment = setup.serverCommitment;
    this.participant = setup.participant;
    this.publicKey = setup.publicKey;
    this.entropy = setup.entropy;
    this.#priorCommitment = setup.priorCommitment;
  }

  get commitment(): Uint8Array {
    return this.entropy.length > 0
      ? commitmentOf(this.context, this.participant, this.entropy)
      : this.#priorCommitment;
  }

  /** Whether the transcript includes the bot's entropy. */
  get takesPart(): boolean {
    return this.entropy.length > 0 && same(this.shownCommitment, this.commitment);
  }

  /** The hash over everything that the bot saw before it revealed its entropy; undefined before. */
  get transcript(): Uint8Array | undefined {
    const { context, serverCommitment, participant, shownCommitment, seal } = this;
    return shownCommitment && seal
      ? viewTranscriptOf(context, serverCommitment, participant, shownCommitment, seal)
      : undefined;
  }

  /**
   * The key from which all packs are derived; undefined before the opening, and if the deal-set is
   * void.
   */
  get key(): Uint8Array | undefined {
    const { opening } = this;
    return this.shownCommitment && opening && !this.voidReason
      ? keyOf(openedTranscript(opening), opening.secret, opening.entropies)
      : undefined;
  }
}

/** The name of a deal-set in messages. */
export function dealName(context: Uint8Array): string {
  return hex(context).slice(0, 12);
}
