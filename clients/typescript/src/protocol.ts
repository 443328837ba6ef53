/** The hashes of fair deals, protocol fd2 of docs/fair-deals.md. */
import { createHash, createHmac } from "node:crypto";

export const HASH_BYTES = 32;
export const SALT_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** The commitment of who takes no part. */
export const NO_COMMITMENT = Buffer.alloc(HASH_BYTES);

/** Bytes by participant. */
export type ByParticipant = ReadonlyMap<string, Uint8Array>;

/** Byte strings with their lengths, so that no two lists of them look alike. */
export function joined(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [uint32(part.length), part]));
}

/** A number in four bytes, the highest first. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(part);
  }
  return hash.digest();
}

/** The protocol's hash for one purpose. */
export function digest(label: string, ...parts: readonly Uint8Array[]): Buffer {
  return sha256(joined(text("fd1"), text(label), ...parts));
}

export function commitmentOf(context: Uint8Array, name: string, entropy: Uint8Array): Buffer {
  return digest("bot-commit", context, text(name), entropy);
}

/** What the arena commits to its secret with. */
export function serverCommitmentOf(context: Uint8Array, secret: Uint8Array): Buffer {
  return digest("server-commit", context, secret);
}

/** The context of a deal-set as one participant is told it. */
export function viewOf(deal: Uint8Array, name: string, salt: Uint8Array): Buffer {
  return digest("view", deal, text(name), salt);
}

/** What binds the arena to a transcript that it does not show yet. */
export function sealOf(context: Uint8Array, transcript: Uint8Array, salt: Uint8Array): Buffer {
  return digest("seal", context, transcript, salt);
}

/** Ties together all that one participant is shown before it reveals. */
export function shownOf(
  context: Uint8Array,
  serverCommitment: Uint8Array,
  name: string,
  commitment: Uint8Array,
  seal: Uint8Array,
): Buffer {
  return digest("view-transcript", context, serverCommitment, joined(text(name), commitment), seal);
}

export function transcriptOf(
  context: Uint8Array,
  serverCommitment: Uint8Array,
  commitments: ByParticipant,
): Buffer {
  return digest("transcript", context, serverCommitment, ...pairs(commitments));
}

/** What all packs of the deal-set follow from. */
export function keyOf(
  transcript: Uint8Array,
  secret: Uint8Array,
  entropies: ByParticipant,
): Buffer {
  return createHmac("sha256", transcript)
    .update(joined(secret, ...pairs(entropies)))
    .digest();
}

/** Names as the protocol sorts them, by their bytes. */
export function inOrder(names: Iterable<string>): string[] {
  return [...names].sort((one, other) => Buffer.compare(text(one), text(other)));
}

export function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

function pairs(values: ByParticipant): Buffer[] {
  return inOrder(values.keys()).map((name) => joined(text(name), values.get(name) as Uint8Array));
}

function text(words: string): Buffer {
  return Buffer.from(words, "utf8");
}
