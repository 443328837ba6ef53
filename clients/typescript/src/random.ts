/** The random numbers of a decision. */
import { createHmac, randomBytes } from "node:crypto";
import { uint32 } from "./hashes.js";

/** For matches of arenas that send no dice. */
export const OWN_DICE: Uint8Array = randomBytes(16);

/** The seed of a decision by the dice of the match. */
export function seedOf(dice: Uint8Array, decision: number): Uint8Array {
  return createHmac("sha256", dice).update(uint32(decision)).digest();
}

/**
 * A function like Math.random: sfc32 of the test suite PractRand, whose state is the first 16 bytes
 * of the seed. A number has the 53 bits that fit.
 */
export function randomOf(seed: Uint8Array): () => number {
  const bytes = Buffer.from(seed);
  const state = Uint32Array.from([0, 4, 8, 12].map((at) => bytes.readUInt32BE(at)));
  let [a = 0, b = 0, c = 0, count = 0] = state;
  const next = () => {
    const drawn = (a + b + count) >>> 0;
    count = (count + 1) >>> 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + drawn) >>> 0;
    return drawn;
  };
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}
