import { create } from "@bufbuild/protobuf";
import { bodyBytes } from "./bodies.js";
import { Deal, type Opening, openedTranscript, type Shown } from "./deal.js";
import type { AskFrame } from "./frames.js";
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
} from "./protocol.js";
import type { Receipts } from "./receipts.js";

/** How much sooner than the deadline an arena may go on without a commitment: for the network. */
const JITTER_OF_DEADLINE_MS = 1000;
/** So many deal-sets in play, and so many that are over. */
const REMEMBERED_DEALS = 4096;

/** What is to be done about a message of the arena. */
export interface Reaction {
  readonly send: BotMessage[];
  readonly say: string[];
}

/** A deal-set in sentences. */
export function dealName(context: Uint8Array): string {
  return hex(context).slice(0, 12);
}

/** All fair deals that a bot takes part in, and checks: protocol fd2 of docs/fair-deals.md. */
export class Deals {
  /** What the arena was caught at, in sentences. */
  readonly lies: string[] = [];
  readonly #receipts: Receipts | undefined;
  readonly #draw: () => Uint8Array;
  /** By context, in hexadecimal; oldest first. */
  readonly #known = new Map<string, Deal>();
  readonly #over = new Set<string>();
  /** Contexts of matches in play. */
  readonly #contexts = new Map<number, string>();
  /** Of these, the matches that this stream has told of. */
  readonly #told = new Set<number>();

  /** Of where receipts are kept, if they are, and what draws 32 bytes of entropy. */
  constructor(receipts: Receipts | undefined, draw: () => Uint8Array) {
    this.#receipts = receipts;
    this.#draw = draw;
  }

  /** Another stream begins. What is in play, it will tell. */
  onStream(): void {
    this.#told.clear();
  }

  /** Commits, or says why not. */
  onOpen(message: DealOpen, nowMs: number): Reaction {
    const reaction = nothing();
    const { context, serverCommitment, participant, publicKey, commitment: stands } = message;
    if (context.length !== HASH_BYTES || serverCommitment.length !== HASH_BYTES) {
      reaction.say.push("took no part in a fair deal that was not named as one");
      return reaction;
    }
    const known = this.#find(context, participant);
    if (this.#over.has(hex(context))) {
      this.#lie(reaction, context, "it opens a deal-set again whose packs are known");
      return reaction;
    }
    const entropy = known || stands.length > 0 ? new Uint8Array() : this.#draw();
    const terms = { context, serverCommitment, participant, publicKey, entropy, stood: stands };
    const deal = known ?? new Deal(terms);
    if (!known) {
      this.#remember(deal);
      this.#keep(reaction, deal);
    } else if (
      !same(deal.serverCommitment, serverCommitment) ||
      deal.participant !== participant ||
      !same(deal.publicKey, publicKey)
    ) {
      deal.refused = true;
      this.#lie(reaction, context, "it committed itself twice, and differently");
      return reaction;
    }
    if (stands.length > 0) {
      // The arena has it, or it is too late.
      if (!same(stands, NO_COMMITMENT) && !same(stands, deal.commitment)) {
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

  /** Reveals, or says why not. */
  onTranscript(message: DealTranscript, nowMs: number): Reaction {
    const reaction = nothing();
    const { context, commitment, seal, signature } = message;
    const deal = this.#find(context);
    if (!deal) {
      if (!this.#over.has(hex(context))) {
        reaction.say.push(notRevealed(context));
      }
      return reaction;
    }
    let what = "";
    if (deal.shown === undefined) {
      what = wrongTranscript(deal, message, nowMs < deal.dueMs - JITTER_OF_DEADLINE_MS);
      if (!what) {
        Object.assign(deal, { shown: commitment, seal, signature });
      }
    } else if (!same(commitment, deal.shown) || !same(seal, deal.seal)) {
      what = "it shows a second transcript, which differs from the first";
    }
    if (what) {
      deal.refused = true;
      this.#lie(reaction, context, `${what}; nothing is revealed`);
    } else if (deal.publicKey.length > 0 && deal.signature.length !== SIGNATURE_BYTES) {
      // No reason to stay silent: that would cost the bot the deal-set.
      this.#lie(reaction, context, "it has a key, and does not sign what it shows");
    }
    this.#keep(reaction, deal);
    if (deal.entropy.length === 0 && !same(deal.commitment, NO_COMMITMENT)) {
      reaction.say.push(notRevealed(context));
    }
    if (deal.takesPart && !deal.refused) {
      const value = create(DealRevealSchema, { context, entropy: deal.entropy });
      reaction.send.push(create(BotMessageSchema, { body: { case: "dealReveal", value } }));
    }
    return reaction;
  }

  /** Checks all that is opened. */
  onClose(message: DealClose): Reaction {
    const reaction = nothing();
    const { context, voidReason } = message;
    const deal = this.#find(context);
    if (!deal) {
      return reaction;
    }
    const names = message.entropies.map((each) => each.participant);
    const opened = openingOf(message);
    deal.opened = opened;
    deal.voidReason = voidReason;
    const isInOrder = names.join("\n") === inOrder(opened.entropies.keys()).join("\n");
    const what = isInOrder
      ? wrongOpening(deal, opened)
      : "it opens participants out of order, or one twice";
    if (what) {
      this.#lie(reaction, context, what);
    }
    if (voidReason) {
      reaction.say.push(`deal-set ${dealName(context)} is void: ${voidReason}`);
    } else {
      if (!deal.takesPart) {
        reaction.say.push(`deal-set ${dealName(context)} was fixed without this bot's entropy`);
      }
      const playing = [...this.#told].find((match) => this.#contexts.get(match) === hex(context));
      if (playing !== undefined) {
        this.#lie(
          reaction,
          context,
          `it opens the packs while match ${playing} is played with them`,
        );
      }
    }
    this.#keep(reaction, deal);
    this.#known.delete(hex(context));
    this.#finish(context);
    return reaction;
  }

  onMatchStart(start: MatchStart): Reaction {
    const reaction = nothing();
    const { match, dealContext: context, seat, matchId } = start;
    if (context.length === 0) {
      return reaction;
    }
    this.#contexts.set(match, hex(context));
    this.#told.add(match);
    if (this.#over.has(hex(context))) {
      this.#lie(reaction, context, `it begins match ${match} with packs that are known`);
    }
    const deal = this.#find(context);
    if (deal && !deal.matches.has(match)) {
      const game = start.terms?.game ?? "";
      const chain = new Uint8Array(HASH_BYTES);
      const shown = {
        match,
        game,
        seat,
        matchId,
        chain,
        asks: [],
        end: undefined,
        last: undefined,
      };
      deal.matches.set(match, shown);
    }
    return reaction;
  }

  onAsk(ask: AskFrame): Reaction {
    const reaction = nothing();
    const shown = this.#shownIn(ask.match);
    if (!shown || !ask.payload || ask.decision === 0) {
      return reaction;
    }
    const sum = sha256(ask.payload);
    const [last] = shown.asks.at(-1) ?? [0];
    if (ask.decision > last) {
      shown.chain = sha256(shown.chain, uint32(ask.decision), ask.payload);
      shown.last = sum;
      shown.asks.push([ask.decision, hex(shown.chain).slice(0, 8)]);
    } else if (ask.decision === last && !same(sum, shown.last)) {
      const what = `it asks decision ${last} of match ${ask.match} twice, and differently`;
      this.#lie(reaction, Buffer.from(this.#contexts.get(ask.match) ?? "", "hex"), what);
    }
    return reaction;
  }

  onMatchEnd(end: MatchEnd): Reaction {
    const reaction = nothing();
    const shown = this.#shownIn(end.match);
    const deal = this.#known.get(this.#contexts.get(end.match) ?? "");
    this.#contexts.delete(end.match);
    this.#told.delete(end.match);
    if (shown && deal) {
      if (end.ending !== Ending.UNSPECIFIED) {
        shown.matchId = end.replayId || shown.matchId;
        shown.end = sha256(joined(...bodyBytes(end.trailingEvents)));
      }
      this.#keep(reaction, deal);
    }
    return reaction;
  }

  /** What is noted of a match, where receipts are kept. */
  #shownIn(match: number): Shown | undefined {
    const deal = this.#known.get(this.#contexts.get(match) ?? "");
    return this.#receipts && deal?.matches.get(match);
  }

  /** A deal that is not closed, from before this process was started too. */
  #find(context: Uint8Array, participant?: string): Deal | undefined {
    const known = this.#known.get(hex(context));
    if (known || this.#over.has(hex(context))) {
      return known;
    }
    const kept = this.#receipts?.recall(context, participant);
    if (kept?.opened) {
      this.#finish(context);
      return undefined;
    }
    if (kept) {
      this.#remember(kept);
    }
    return kept;
  }

  #remember(deal: Deal): void {
    this.#known.set(hex(deal.context), deal);
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED_DEALS && oldest !== undefined) {
      this.#known.delete(oldest);
    }
  }

  #finish(context: Uint8Array): void {
    this.#over.add(hex(context));
    const [oldest] = this.#over;
    if (this.#over.size > REMEMBERED_DEALS && oldest !== undefined) {
      this.#over.delete(oldest);
    }
  }

  #keep(reaction: Reaction, deal: Deal): void {
    try {
      this.#receipts?.keep(deal);
    } catch (error) {
      const why = (error as Error).message;
      reaction.say.push(`the receipt of deal-set ${dealName(deal.context)} is not kept: ${why}`);
    }
  }

  /** Notes a lie of the arena, and says it if it is new. */
  #lie(reaction: Reaction, context: Uint8Array, what: string): void {
    const line = `the arena LIED about deal-set ${dealName(context)}: ${what}`;
    const deal = this.#known.get(hex(context));
    if (deal && !deal.lies.includes(what)) {
      deal.lies.push(what);
    }
    if (!this.lies.includes(line)) {
      this.lies.push(line);
      reaction.say.push(line);
    }
  }
}

function nothing(): Reaction {
  return { send: [], say: [] };
}

function notRevealed(context: Uint8Array): string {
  return `deal-set ${dealName(context)}: not revealed, as this process had not committed to it`;
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
 * What is wrong with the first transcript that a bot is shown: its own commitment and the seal. It
 * is early before the time to commit was over. Empty if nothing is.
 */
function wrongTranscript(deal: Deal, message: DealTranscript, early: boolean): string {
  const { commitment, seal } = message;
  if (commitment.length !== HASH_BYTES) {
    return "it left this bot's commitment out";
  }
  if (seal.length !== HASH_BYTES) {
    return "it does not bind itself to what it received";
  }
  if (same(commitment, deal.commitment)) {
    return "";
  }
  if (!same(commitment, NO_COMMITMENT)) {
    return "it replaced this bot's commitment";
  }
  return early ? "it did not wait for this bot's commitment, or dropped it" : "";
}

/** What is wrong with what the arena opened; empty if nothing is. */
function wrongOpening(deal: Deal, opened: Opening): string {
  const name = deal.participant;
  const commitment = serverCommitmentOf(deal.context, opened.secret);
  if (opened.secret.length !== HASH_BYTES || !same(commitment, deal.serverCommitment)) {
    return "its secret does not open its commitment";
  }
  const salt = opened.salts.get(name) ?? new Uint8Array();
  if (salt.length !== SALT_BYTES || !same(viewOf(opened.deal, name, salt), deal.context)) {
    return "it opens another deal-set than it had named to this bot";
  }
  const entropy = opened.entropies.get(name) ?? new Uint8Array();
  if (deal.shown === undefined) {
    return entropy.length > 0 ? "it opens entropy that this bot never revealed" : "";
  }
  const changed = !same(entropy, deal.entropy) && (entropy.length > 0 || !deal.voidReason);
  if (deal.takesPart && changed) {
    return "it replaced this bot's entropy";
  }
  if (deal.voidReason) {
    return ""; // somebody's opening is missing or wrong: that is why
  }
  if (!same(opened.commitments.get(name), deal.shown)) {
    return "it opens another commitment of this bot's than it had shown";
  }
  if (!same(sealOf(deal.context, openedTranscript(opened), salt), deal.seal)) {
    return "it opens other commitments than it had bound itself to";
  }
  return wrongOfOthers(opened);
}

function wrongOfOthers(opened: Opening): string {
  for (const name of inOrder(opened.commitments.keys())) {
    const commitment = opened.commitments.get(name) ?? new Uint8Array();
    const entropy = opened.entropies.get(name) ?? new Uint8Array();
    const context = viewOf(opened.deal, name, opened.salts.get(name) ?? new Uint8Array());
    if (same(commitment, NO_COMMITMENT)) {
      if (entropy.length > 0) {
        return `participant ${name} added entropy without having committed to it`;
      }
    } else if (
      entropy.length !== HASH_BYTES ||
      !same(commitmentOf(context, name, entropy), commitment)
    ) {
      return `the entropy of participant ${name} does not open its commitment`;
    }
  }
  return "";
}
