/** The hashes of fair deals, protocol fd2 of docs/fair-deals.md. */
import { createHash, createHmac } from "node:crypto";

export const HASH_BYTES = 32;
export const SALT_BYTES = 32;
export const SIGNATURE_BYTES = 64;
/** The commitment of a participant that adds no entropy. */
export const NO_COMMITMENT = Buffer.alloc(HASH_BYTES);

/** Bytes by participant. */
export type ByParticipant = ReadonlyMap<string, Uint8Array>;

/**
 * Concatenates byte strings, each after its length, so that different lists give different bytes.
 */
export function joined(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [uint32(part.length), part]));
}

/** A number as four bytes, big-endian. */
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

/** The protocol's hash, with a label for each purpose. */
export function digest(label: string, ...parts: readonly Uint8Array[]): Buffer {
  return sha256(joined(text("fd1"), text(label), ...parts));
}

/** A participant's commitment to its entropy. */
export function commitmentOf(context: Uint8Array, name: string, entropy: Uint8Array): Buffer {
  return digest("bot-commit", context, text(name), entropy);
}

/** The arena's commitment to its secret. */
export function serverCommitmentOf(context: Uint8Array, secret: Uint8Array): Buffer {
  return digest("server-commit", context, secret);
}

/** The context that identifies a deal-set to one participant. */
export function viewOf(deal: Uint8Array, name: string, salt: Uint8Array): Buffer {
  return digest("view", deal, text(name), salt);
}

/** Binds the arena to a transcript before it publishes it. */
export function sealOf(context: Uint8Array, transcript: Uint8Array, salt: Uint8Array): Buffer {
  return digest("seal", context, transcript, salt);
}

/** Binds everything that one participant sees before it reveals its entropy. */
export function viewTranscriptOf(
  context: Uint8Array,
  serverCommitment: Uint8Array,
  name: string,
  commitment: Uint8Array,
  seal: Uint8Array,
): Buffer {
  return digest("view-transcript", context, serverCommitment, joined(text(name), commitment), seal);
}

/** Binds all commitments of a deal-set. */
export function transcriptOf(
  context: Uint8Array,
  serverCommitment: Uint8Array,
  commitments: ByParticipant,
): Buffer {
  return digest("transcript", context, serverCommitment, ...pairs(commitments));
}

/** The key from which all packs of the deal-set are derived. */
export function keyOf(
  transcript: Uint8Array,
  secret: Uint8Array,
  entropies: ByParticipant,
): Buffer {
  return createHmac("sha256", transcript)
    .update(joined(secret, ...pairs(entropies)))
    .digest();
}

/** Names in the protocol's order, that of their bytes. */
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

function text(chars: string): Buffer {
  return Buffer.from(chars, "utf8");
}
