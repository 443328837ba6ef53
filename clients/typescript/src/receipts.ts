import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AskChain, type ChainLink, DealSet, type Opening } from "./deal_set.js";
import { type ByParticipant, hex, same, sha256 } from "./hashes.js";

const FORMAT = "fd2";

/** Bytes in hexadecimal, or null if there are none. */
type Hex = string | null;

/** The JSON of docs/fair-deals.md, "A receipt". */
interface Receipt {
  readonly receipt: string;
  readonly context: Hex;
  readonly server_commitment: Hex;
  readonly participant: string;
  readonly entropy: Hex;
  readonly commitment: Hex;
  readonly shown: Hex;
  readonly seal: Hex;
  readonly transcript: Hex;
  readonly public_key: Hex;
  readonly signature: Hex;
  readonly refused: boolean;
  readonly deal: Hex;
  readonly secret: Hex;
  readonly commitments: Record<string, string> | null;
  readonly entropies: Record<string, string> | null;
  readonly salts: Record<string, string> | null;
  readonly deal_key: Hex;
  readonly void_reason: string;
  readonly lies: readonly string[];
  readonly matches: readonly MatchReceipt[];
}

interface MatchReceipt {
  readonly match: number;
  readonly replay_id: string | null;
  readonly game: string;
  readonly seat: number;
  readonly asks: readonly ChainLink[];
  readonly chain: Hex;
  readonly end: Hex;
  readonly last_sha256: Hex;
}

/**
 * A folder of receipts, with a file for each deal-set.
 *
 * Each bot needs a folder of its own. A restarted bot reads its entropy from it, because a receipt
 * is written before the bot reveals anything.
 */
export class ReceiptFolder {
  readonly #folder: string;

  /** Creates the folder if it does not exist. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Writes the receipt of a deal-set. A failure leaves the previous receipt as it was. */
  write(deal: DealSet): void {
    const path = join(this.#folder, `${fileName(deal.context, deal.participant)}.json`);
    const partial = `${path}.${process.pid}.partial`;
    try {
      // Only the owner can read it: the entropy is secret until the bot reveals it.
      writeFileSync(partial, `${JSON.stringify(receiptOf(deal))}\n`, { mode: 0o600 });
      renameSync(partial, path);
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    }
  }

  /**
   * Reads the receipt of a deal-set; undefined if there is no valid receipt. Without a participant,
   * it reads the receipt of any; undefined if there are several.
   */
  read(context: Uint8Array, participant?: string): DealSet | undefined {
    try {
      const prefix = fileName(context, participant);
      const names = readdirSync(this.#folder).filter(
        (name) => name.startsWith(prefix) && name.endsWith(".json"),
      );
      const [name] = names;
      if (name === undefined || names.length > 1) {
        return undefined;
      }
      const receipt = JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as Receipt;
      const valid = receipt.receipt === FORMAT && same(bytesOf(receipt.context), context);
      return valid ? dealSetOf(receipt) : undefined;
    } catch {
      return undefined; // no receipt, or not a complete one
    }
  }
}

/**
 * The name of a receipt. It has a hash of the participant's name, because the arena may send a name
 * that is a path.
 */
function fileName(context: Uint8Array, participant: string | undefined): string {
  const suffix = participant ? hex(sha256(Buffer.from(participant, "utf8"))).slice(0, 8) : "";
  return `${hex(context).slice(0, 16)}-${suffix}`;
}

function receiptOf(deal: DealSet): Receipt {
  const { opening } = deal;
  return {
    receipt: FORMAT,
    context: toHex(deal.context),
    server_commitment: toHex(deal.serverCommitment),
    participant: deal.participant,
    entropy: toHex(deal.entropy),
    commitment: toHex(deal.commitment),
    shown: toHex(deal.shownCommitment),
    seal: toHex(deal.seal),
    transcript: toHex(deal.transcript),
    public_key: toHex(deal.publicKey),
    signature: toHex(deal.signature),
    refused: deal.refused,
    deal: toHex(opening?.deal),
    secret: toHex(opening?.secret),
    commitments: hexByParticipant(opening?.commitments),
    entropies: hexByParticipant(opening?.entropies),
    salts: hexByParticipant(opening?.salts),
    deal_key: toHex(deal.key),
    void_reason: deal.voidReason,
    lies: deal.lies,
    matches: [...deal.chains.values()].map((chain) => ({
      match: chain.matchNumber,
      replay_id: chain.matchId || null,
      game: chain.game,
      seat: chain.seat,
      asks: chain.links,
      chain: toHex(chain.hash),
      end: toHex(chain.endSha256),
      last_sha256: toHex(chain.lastSha256),
    })),
  };
}

function dealSetOf(receipt: Receipt): DealSet {
  const entropy = bytesOf(receipt.entropy);
  const deal = new DealSet({
    context: bytesOf(receipt.context),
    serverCommitment: bytesOf(receipt.server_commitment),
    participant: receipt.participant,
    publicKey: bytesOf(receipt.public_key),
    entropy,
    priorCommitment: entropy.length > 0 ? new Uint8Array() : bytesOf(receipt.commitment),
  });
  deal.shownCommitment = receipt.shown ? bytesOf(receipt.shown) : undefined;
  deal.seal = receipt.seal ? bytesOf(receipt.seal) : undefined;
  deal.signature = bytesOf(receipt.signature);
  deal.refused = receipt.refused;
  deal.opening = openingOf(receipt);
  deal.voidReason = receipt.void_reason;
  deal.lies.push(...receipt.lies);
  for (const match of receipt.matches) {
    deal.chains.set(match.match, chainOf(match));
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
    commitments: byParticipant(commitments),
    entropies: byParticipant(entropies),
    salts: byParticipant(salts),
  };
}

function chainOf(receipt: MatchReceipt): AskChain {
  return {
    matchNumber: receipt.match,
    game: receipt.game,
    seat: receipt.seat,
    matchId: receipt.replay_id ?? "",
    hash: bytesOf(receipt.chain),
    links: [...receipt.asks],
    endSha256: receipt.end ? bytesOf(receipt.end) : undefined,
    lastSha256: receipt.last_sha256 ? bytesOf(receipt.last_sha256) : undefined,
  };
}

function toHex(bytes: Uint8Array | undefined): Hex {
  return bytes && bytes.length > 0 ? hex(bytes) : null;
}

function bytesOf(text: Hex): Uint8Array {
  return Buffer.from(text ?? "", "hex");
}

function hexByParticipant(values: ByParticipant | undefined): Record<string, string> | null {
  return values ? Object.fromEntries([...values].map(([name, value]) => [name, hex(value)])) : null;
}

function byParticipant(texts: Record<string, string>): ByParticipant {
  return new Map(Object.entries(texts).map(([name, text]) => [name, bytesOf(text)]));
}
