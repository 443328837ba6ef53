import { create } from "@bufbuild/protobuf";
import { type AskChain, DealSet, dealName, type Opening, openedTranscript } from "./deal_set.js";
import type { AskFrame } from "./frames.js";
import { encodedEvents } from "./game_messages.js";
import { Ending } from "./gen/cardarena/v1/game_pb.js";
import {
  type BotMessage,
  BotMessageSchema,
  type DealClose,
  DealCommitSchema,
  type DealOpen,
  DealRevealSchema,
  type DealTranscript,
  type MatchEnd,
  type MatchStart,
} from "./gen/cardarena/v1/play_pb.js";
import {
  commitmentOf,
  HASH_BYTES,
  hex,
  inOrder,
  joined,
  NO_COMMITMENT,
  SALT_BYTES,
  SIGNATURE_BYTES,
  same,
  sealOf,
  serverCommitmentOf,
  sha256,
  uint32,
  viewOf,
} from "./hashes.js";
import type { ReceiptFolder } from "./receipts.js";

/**
 * An arena that continues this long before the deadline without a commitment does not lie: the
 * network may have delayed a message.
 */
const DEADLINE_TOLERANCE_MS = 1000;
/** The maximum number of remembered deal-sets in play, and of those that are over. */
const MAX_REMEMBERED = 4096;

/** What to do about a message of the arena. */
export interface Reaction {
  readonly send: BotMessage[];
  /** Lines for the log. */
  readonly warnings: string[];
}

/** All fair deals of a bot, by protocol fd2 of docs/fair-deals.md: it commits, reveals and checks. */
export class Deals {
  /** What the arena lied about, one sentence each. */
  readonly lies: string[] = [];
  readonly #receipts: ReceiptFolder | undefined;
  readonly #drawEntropy: () => Uint8Array;
  /** The deal-sets in play, by context in hexadecimal, oldest first. */
  readonly #open = new Map<string, DealSet>();
  /** The contexts of deal-sets that are over, oldest first. */
  readonly #closed = new Set<string>();
  /** The context of each match in play. */
  readonly #contexts = new Map<number, string>();
  /** The matches that the arena announced on the current stream. */
  readonly #announced = new Set<number>();

  /** Without a folder the bot stores no receipts. `drawEntropy` draws 32 random bytes. */
  constructor(receipts: ReceiptFolder | undefined, drawEntropy: () => Uint8Array) {
    this.#receipts = receipts;
    this.#drawEntropy = drawEntropy;
  }

  /** Starts a new stream. The arena announces on it which matches are in play. */
  onStream(): void {
    this.#announced.clear();
  }

  /** Commits to entropy for a deal-set. */
  onOpen(message: DealOpen, nowMs: number): Reaction {
    const reaction = noReaction();
    const { context, serverCommitment, participant, publicKey, commitment: prior } = message;
    if (context.length !== HASH_BYTES || serverCommitment.length !== HASH_BYTES) {
      reaction.warnings.push(
        "ignored a fair deal: its context or commitment does not have 32 bytes",
      );
      return reaction;
    }
    const known = this.#find(context, participant);
    if (this.#closed.has(hex(context))) {
      this.#lie(reaction, context, "it reopened a deal-set whose packs are public");
      return reaction;
    }
    const entropy = known || prior.length > 0 ? new Uint8Array() : this.#drawEntropy();
    const setup = { context, serverCommitment, participant, publicKey, entropy };
    const deal = known ?? new DealSet({ ...setup, priorCommitment: prior });
    if (!known) {
      this.#remember(deal);
      this.#store(reaction, deal);
    } else if (
      !same(deal.serverCommitment, serverCommitment) ||
      deal.participant !== participant ||
      !same(deal.publicKey, publicKey)
    ) {
      deal.refused = true;
      this.#lie(reaction, context, "it sent two different commitments");
      return reaction;
    }
    if (prior.length > 0) {
      // The arena has the commitment, or the deadline is over.
      if (!same(prior, NO_COMMITMENT) && !same(prior, deal.commitment)) {
        deal.refused = true;
        this.#lie(reaction, context, "it replaced this bot's commitment");
      }
      return reaction;
    }
    deal.dueMs = nowMs + message.deadlineMs;
    const value = create(DealCommitSchema, { context, commitment: deal.commitment });
    reaction.send.push(create(BotMessageSchema, { body: { case: "dealCommit", value } }));
    return reaction;
  }

  /** Checks the transcript, and reveals the bot's entropy if it is right. */
  onTranscript(message: DealTranscript, nowMs: number): Reaction {
    const reaction = noReaction();
    const { context, commitment, seal, signature } = message;
    const deal = this.#find(context);
    if (!deal) {
      if (!this.#closed.has(hex(context))) {
        reaction.warnings.push(notRevealed(context));
      }
      return reaction;
    }
    let lie = "";
    if (deal.shownCommitment === undefined) {
      lie = lieInTranscript(deal, message, nowMs < deal.dueMs - DEADLINE_TOLERANCE_MS);
      if (!lie) {
        Object.assign(deal, { shownCommitment: commitment, seal, signature });
      }
    } else if (!same(commitment, deal.shownCommitment) || !same(seal, deal.seal)) {
      lie = "it sent a second transcript that differs from the first";
    }
    if (lie) {
      deal.refused = true;
      this.#lie(reaction, context, `${lie}; this bot does not reveal its entropy`);
    } else if (deal.publicKey.length > 0 && deal.signature.length !== SIGNATURE_BYTES) {
      // The bot reveals all the same: not to reveal would lose it the deal-set.
      this.#lie(reaction, context, "it has a key, but did not sign the transcript");
    }
    this.#store(reaction, deal);
    if (deal.entropy.length === 0 && !same(deal.commitment, NO_COMMITMENT)) {
      reaction.warnings.push(notRevealed(context));
    }
    if (deal.takesPart && !deal.refused) {
      const value = create(DealRevealSchema, { context, entropy: deal.entropy });
      reaction.send.push(create(BotMessageSchema, { body: { case: "dealReveal", value } }));
    }
    return reaction;
  }

  /** Checks the opening of a deal-set that is over. */
  onClose(message: DealClose): Reaction {
    const reaction = noReaction();
    const { context, voidReason } = message;
    const deal = this.#find(context);
    if (!deal) {
      return reaction;
    }
    const names = message.entropies.map((each) => each.participant);
    const opening = openingOf(message);
    deal.opening = opening;
    deal.voidReason = voidReason;
    const isInOrder = names.join("\n") === inOrder(opening.entropies.keys()).join("\n");
    const lie = isInOrder
      ? lieInOpening(deal, opening)
      : "it opened participants out of order, or one of them twice";
    if (lie) {
      this.#lie(reaction, context, lie);
    }
    if (voidReason) {
      reaction.warnings.push(`deal-set ${dealName(context)} is void: ${voidReason}`);
    } else {
      if (!deal.takesPart) {
        const name = dealName(context);
        reaction.warnings.push(`deal-set ${name} was dealt without this bot's entropy`);
      }
      const match = [...this.#announced].find((each) => this.#contexts.get(each) === hex(context));
      if (match !== undefined) {
        const what = `it published the packs while match ${match} was played with them`;
        this.#lie(reaction, context, what);
      }
    }
    this.#store(reaction, deal);
    this.#open.delete(hex(context));
    this.#close(context);
    return reaction;
  }

  onMatchStart(start: MatchStart): Reaction {
    const reaction = noReaction();
    const { match: matchNumber, dealContext: context, seat, matchId } = start;
    if (context.length === 0) {
      return reaction;
    }
    this.#contexts.set(matchNumber, hex(context));
    this.#announced.add(matchNumber);
    if (this.#closed.has(hex(context))) {
      this.#lie(reaction, context, `it started match ${matchNumber} with packs that are public`);
    }
    const deal = this.#find(context);
    if (deal && !deal.chains.has(matchNumber)) {
      deal.chains.set(matchNumber, {
        matchNumber,
        game: start.terms?.game ?? "",
        seat,
        matchId,
        hash: new Uint8Array(HASH_BYTES),
        links: [],
        endSha256: undefined,
        lastSha256: undefined,
      });
    }
    return reaction;
  }

  /** Adds an ask to the chain of its match. */
  onAsk(ask: AskFrame): Reaction {
    const reaction = noReaction();
    const chain = this.#chainOf(ask.match);
    if (!chain || !ask.payload || ask.decision === 0) {
      return reaction;
    }
    const sum = sha256(ask.payload);
    const [last] = chain.links.at(-1) ?? [0];
    if (ask.decision > last) {
      chain.hash = sha256(chain.hash, uint32(ask.decision), ask.payload);
      chain.lastSha256 = sum;
      chain.links.push([ask.decision, hex(chain.hash).slice(0, 8)]);
    } else if (ask.decision === last && !same(sum, chain.lastSha256)) {
      const what = `it sent decision ${last} of match ${ask.match} twice and differently`;
      this.#lie(reaction, Buffer.from(this.#contexts.get(ask.match) ?? "", "hex"), what);
    }
    return reaction;
  }

  /** Completes the chain of a match with the events that came with its end. */
  onMatchEnd(end: MatchEnd): Reaction {
    const reaction = noReaction();
    const chain = this.#chainOf(end.match);
    const deal = this.#open.get(this.#contexts.get(end.match) ?? "");
    this.#contexts.delete(end.match);
    this.#announced.delete(end.match);
    if (chain && deal) {
      if (end.ending !== Ending.UNSPECIFIED) {
        chain.matchId = end.replayId || chain.matchId;
        chain.endSha256 = sha256(joined(...encodedEvents(end.trailingEvents)));
      }
      this.#store(reaction, deal);
    }
    return reaction;
  }

  /** The chain of a match; undefined if the bot stores no receipts. */
  #chainOf(match: number): AskChain | undefined {
    const deal = this.#open.get(this.#contexts.get(match) ?? "");
    return this.#receipts && deal?.chains.get(match);
  }

  /** A deal-set in play. A receipt of an earlier process is loaded first. */
  #find(context: Uint8Array, participant?: string): DealSet | undefined {
    const known = this.#open.get(hex(context));
    if (known || this.#closed.has(hex(context))) {
      return known;
    }
    const stored = this.#receipts?.read(context, participant);
    if (stored?.opening) {
      this.#close(context);
      return undefined;
    }
    if (stored) {
      this.#remember(stored);
    }
    return stored;
  }

  #remember(deal: DealSet): void {
    this.#open.set(hex(deal.context), deal);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_REMEMBERED && oldest !== undefined) {
      this.#open.delete(oldest);
    }
  }

  #close(context: Uint8Array): void {
    this.#closed.add(hex(context));
    const [oldest] = this.#closed;
    if (this.#closed.size > MAX_REMEMBERED && oldest !== undefined) {
      this.#closed.delete(oldest);
    }
  }

  #store(reaction: Reaction, deal: DealSet): void {
    try {
      this.#receipts?.write(deal);
    } catch (error) {
      const why = (error as Error).message;
      const name = dealName(deal.context);
      reaction.warnings.push(`cannot store the receipt of deal-set ${name}: ${why}`);
    }
  }

  /** Records a lie of the arena, and warns the author if it is new. */
  #lie(reaction: Reaction, context: Uint8Array, what: string): void {
    const line = `the arena LIED about deal-set ${dealName(context)}: ${what}`;
    const deal = this.#open.get(hex(context));
    if (deal && !deal.lies.includes(what)) {
      deal.lies.push(what);
    }
    if (!this.lies.includes(line)) {
      this.lies.push(line);
      reaction.warnings.push(line);
    }
  }
}

function noReaction(): Reaction {
  return { send: [], warnings: [] };
}

function notRevealed(context: Uint8Array): string {
  return `deal-set ${dealName(context)}: not revealed, because this process did not commit to it`;
}

function openingOf(message: DealClose): Opening {
  const { deal, secret, entropies } = message;
  return {
    deal,
    secret,
    commitments: new Map(entropies.map((each) => [each.participant, each.commitment])),
    entropies: new Map(entropies.map((each) => [each.participant, each.entropy])),
    salts: new Map(entropies.map((each) => [each.participant, each.salt])),
  };
}

/**
 * The lie in the first transcript of a deal-set; empty if there is none. `early` is whether it came
 * before the deadline.
 */
function lieInTranscript(deal: DealSet, message: DealTranscript, early: boolean): string {
  const { commitment, seal } = message;
  if (commitment.length !== HASH_BYTES) {
    return "it left out this bot's commitment";
  }
  if (seal.length !== HASH_BYTES) {
    return "it sent no seal over the commitments";
  }
  if (same(commitment, deal.commitment)) {
    return "";
  }
  if (!same(commitment, NO_COMMITMENT)) {
    return "it replaced this bot's commitment";
  }
  return early ? "it did not wait for this bot's commitment, or dropped it" : "";
}

/** The lie in the opening of a deal-set; empty if there is none. */
function lieInOpening(deal: DealSet, opening: Opening): string {
  const name = deal.participant;
  const commitment = serverCommitmentOf(deal.context, opening.secret);
  if (opening.secret.length !== HASH_BYTES || !same(commitment, deal.serverCommitment)) {
    return "its secret does not match its commitment";
  }
  const salt = opening.salts.get(name) ?? new Uint8Array();
  if (salt.length !== SALT_BYTES || !same(viewOf(opening.deal, name, salt), deal.context)) {
    return "it opened another deal-set than the one it named to this bot";
  }
  const entropy = opening.entropies.get(name) ?? new Uint8Array();
  if (deal.shownCommitment === undefined) {
    return entropy.length > 0 ? "it published entropy that this bot never revealed" : "";
  }
  const changed = !same(entropy, deal.entropy) && (entropy.length > 0 || !deal.voidReason);
  if (deal.takesPart && changed) {
    return "it replaced this bot's entropy";
  }
  if (deal.voidReason) {
    return ""; // a participant's entropy is missing or wrong, which made the deal-set void
  }
  if (!same(opening.commitments.get(name), deal.shownCommitment)) {
    return "it opened another commitment of this bot than the one in its transcript";
  }
  if (!same(sealOf(deal.context, openedTranscript(opening), salt), deal.seal)) {
    return "it opened commitments that do not match its seal";
  }
  return lieAboutParticipants(opening);
}

function lieAboutParticipants(opening: Opening): string {
  for (const name of inOrder(opening.commitments.keys())) {
    const commitment = opening.commitments.get(name) ?? new Uint8Array();
    const entropy = opening.entropies.get(name) ?? new Uint8Array();
    const context = viewOf(opening.deal, name, opening.salts.get(name) ?? new Uint8Array());
    if (same(commitment, NO_COMMITMENT)) {
      if (entropy.length > 0) {
        return `participant ${name} added entropy without a commitment`;
      }
    } else if (
      entropy.length !== HASH_BYTES ||
      !same(commitmentOf(context, name, entropy), commitment)
    ) {
      return `the entropy of participant ${name} does not match its commitment`;
    }
  }
  return "";
}
