import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Deal, type Link, type Opening, type Shown } from "./deal.js";
import { type ByParticipant, hex, same, sha256 } from "./protocol.js";

const FORMAT = "fd2";

/** Bytes in hexadecimal; null where there are none yet. */
type Digits = string | null;

/** The JSON of docs/fair-deals.md, "A receipt". */
interface Receipt {
  readonly receipt: string;
  readonly context: Digits;
  readonly server_commitment: Digits;
  readonly participant: string;
  readonly entropy: Digits;
  readonly commitment: Digits;
  readonly shown: Digits;
  readonly seal: Digits;
  readonly transcript: Digits;
  readonly public_key: Digits;
  readonly signature: Digits;
  readonly refused: boolean;
  readonly deal: Digits;
  readonly secret: Digits;
  readonly commitments: Record<string, string> | null;
  readonly entropies: Record<string, string> | null;
  readonly salts: Record<string, string> | null;
  readonly deal_key: Digits;
  readonly void_reason: string;
  readonly lies: readonly string[];
  readonly matches: readonly MatchReceipt[];
}

interface MatchReceipt {
  readonly match: number;
  readonly replay_id: string | null;
  readonly game: string;
  readonly seat: number;
  readonly asks: readonly Link[];
  readonly chain: Digits;
  readonly end: Digits;
  readonly last_sha256: Digits;
}

/**
 * A folder of receipts, one file for each deal-set. It belongs to one bot alone: a bot that is
 * restarted finds its entropy there, as a receipt is written before anything is revealed.
 */
export class Receipts {
  readonly #folder: string;

  /** Makes the folder, if it is not there. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Writes a deal as it is now, whole or not at all. */
  keep(deal: Deal): void {
    const path = join(this.#folder, `${fileName(deal.context, deal.participant)}.json`);
    const partial = `${path}.${process.pid}.partial`;
    try {
      // Before it is revealed, the entropy is nobody else's business.
      writeFileSync(partial, `${JSON.stringify(receiptOf(deal))}\n`, { mode: 0o600 });
      renameSync(partial, path);
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    }
  }

  /** The deal that was kept, of any participant if none is named; undefined unless there is one. */
  recall(context: Uint8Array, participant?: string): Deal | undefined {
    try {
      const begin = fileName(context, participant);
      const found = readdirSync(this.#folder).filter(
        (name) => name.startsWith(begin) && name.endsWith(".json"),
      );
      const [name] = found;
      if (name === undefined || found.length > 1) {
        return undefined;
      }
      const receipt = JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as Receipt;
      const ours = receipt.receipt === FORMAT && same(bytesOf(receipt.context), context);
      return ours ? dealOf(receipt) : undefined;
    } catch {
      return undefined; // no receipt, or not a whole one
    }
  }
}

/** What a receipt is filed under. Whatever the arena calls a participant, it is no path. */
function fileName(context: Uint8Array, participant: string | undefined): string {
  const own = participant ? hex(sha256(Buffer.from(participant, "utf8"))).slice(0, 8) : "";
  return `${hex(context).slice(0, 16)}-${own}`;
}

function receiptOf(deal: Deal): Receipt {
  const { opened } = deal;
  return {
    receipt: FORMAT,
    context: digits(deal.context),
    server_commitment: digits(deal.serverCommitment),
    participant: deal.participant,
    entropy: digits(deal.entropy),
    commitment: digits(deal.commitment),
    shown: digits(deal.shown),
    seal: digits(deal.seal),
    transcript: digits(deal.transcript),
    public_key: digits(deal.publicKey),
    signature: digits(deal.signature),
    refused: deal.refused,
    deal: digits(opened?.deal),
    secret: digits(opened?.secret),
    commitments: named(opened?.commitments),
    entropies: named(opened?.entropies),
    salts: named(opened?.salts),
    deal_key: digits(deal.key),
    void_reason: deal.voidReason,
    lies: deal.lies,
    matches: [...deal.matches.values()].map((shown) => ({
      match: shown.match,
      replay_id: shown.matchId || null,
      game: shown.game,
      seat: shown.seat,
      asks: shown.asks,
      chain: digits(shown.chain),
      end: digits(shown.end),
      last_sha256: digits(shown.last),
    })),
  };
}

function dealOf(receipt: Receipt): Deal {
  const entropy = bytesOf(receipt.entropy);
  const deal = new Deal({
    context: bytesOf(receipt.context),
    serverCommitment: bytesOf(receipt.server_commitment),
    participant: receipt.participant,
    publicKey: bytesOf(receipt.public_key),
    entropy,
    stood: entropy.length > 0 ? new Uint8Array() : bytesOf(receipt.commitment),
  });
  deal.shown = receipt.shown ? bytesOf(receipt.shown) : undefined;
  deal.seal = receipt.seal ? bytesOf(receipt.seal) : undefined;
  deal.signature = bytesOf(receipt.signature);
  deal.refused = receipt.refused;
  deal.opened = openingOf(receipt);
  deal.voidReason = receipt.void_reason;
  deal.lies.push(...receipt.lies);
  for (const one of receipt.matches) {
    deal.matches.set(one.match, shownOf(one));
  }
  return deal;
}

function openingOf(receipt: Receipt): Opening | undefined {
  const { commitments, entropies, salts } = receipt;
  if (!commitments || !entropies || !salts) {
    return undefined;
  }
  return {
    deal: bytesOf(receipt.deal),
    secret: bytesOf(receipt.secret),
    commitments: byName(commitments),
    entropies: byName(entropies),
    salts: byName(salts),
  };
}

function shownOf(one: MatchReceipt): Shown {
  return {
    match: one.match,
    game: one.game,
    seat: one.seat,
    matchId: one.replay_id ?? "",
    chain: bytesOf(one.chain),
    asks: [...one.asks],
    end: one.end ? bytesOf(one.end) : undefined,
    last: one.last_sha256 ? bytesOf(one.last_sha256) : undefined,
  };
}

function digits(bytes: Uint8Array | undefined): Digits {
  return bytes && bytes.length > 0 ? hex(bytes) : null;
}

function bytesOf(text: Digits): Uint8Array {
  return Buffer.from(text ?? "", "hex");
}

function named(values: ByParticipant | undefined): Record<string, string> | null {
  return values ? Object.fromEntries([...values].map(([name, value]) => [name, hex(value)])) : null;
}

function byName(texts: Record<string, string>): ByParticipant {
  return new Map(Object.entries(texts).map(([name, text]) => [name, bytesOf(text)]));
}
