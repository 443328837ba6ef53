/**
 * Decodes from a frame only what the stream thread needs. Most frames are asks, and only the bot
 * thread needs their full content.
 */
import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  AnswerSchema,
  AnswersSchema,
  type ArenaMessage,
  ArenaMessageSchema,
  type Ask,
  AskSchema,
  AsksSchema,
  BotMessageSchema,
  ClockSchema,
} from "./gen/cardarena/v1/play_pb.js";

/** An ask, as the arena encoded it. */
export interface AskFrame {
  readonly askId: bigint;
  readonly match: number;
  readonly decision: number;
  /** The encoded message in oneof game; undefined if this SDK does not know the game. */
  readonly payload: Uint8Array | undefined;
  /** Whether there is only one legal move. */
  readonly forced: boolean;
  /** The round trip of the arena's last ask to this match; 0 if it is not known. */
  readonly lastRoundTripMs: number;
  /** The whole ask. */
  readonly bytes: Uint8Array;
}

/** The content of a frame: its asks, or any other message. */
export type Frame = { readonly asks: readonly AskFrame[] } | { readonly message: ArenaMessage };

const ASKS = ArenaMessageSchema.field.asks.number;
const EACH_ASK = AsksSchema.field.asks.number;
const ASK = AskSchema.field;
const GAMES = new Map(AskSchema.oneofs[0]?.fields.map((field) => [field.number, field.message]));

/** Decodes a frame. */
export function readFrame(bytes: Uint8Array): Frame {
  const fields = fieldsOf(bytes);
  if (fields.length === 1 && fields[0]?.number === ASKS) {
    const each = fieldsOf(fields[0].bytes);
    if (each.every((field) => field.number === EACH_ASK)) {
      return { asks: each.map((field) => readAsk(field.bytes)) };
    }
  }
  const message = fromBinary(ArenaMessageSchema, bytes);
  if (message.body.case === "asks") {
    return { asks: message.body.value.asks.map(frameOf) };
  }
  return { message };
}

/** The frame of a decoded ask. */
export function frameOf(ask: Ask): AskFrame {
  return readAsk(toBinary(AskSchema, ask));
}

/** Decodes an ask. */
export function readAsk(bytes: Uint8Array): AskFrame {
  const reader = new BinaryReader(bytes);
  let askId = 0n;
  let match = 0;
  let decision = 0;
  let payload: Uint8Array | undefined;
  let forced = false;
  let lastRoundTripMs = 0;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const game = GAMES.get(number);
    if (number === ASK.askId.number) {
      askId = BigInt(reader.uint64());
    } else if (number === ASK.match.number) {
      match = reader.uint32();
    } else if (number === ASK.decision.number) {
      decision = reader.uint32();
    } else if (number === ASK.clock.number) {
      lastRoundTripMs = fromBinary(ClockSchema, reader.bytes()).lastRoundTripMs;
    } else if (game && type === WireType.LengthDelimited) {
      payload = reader.bytes();
      forced = isForced(payload, game);
    } else {
      reader.skip(type, number);
    }
  }
  return { askId, match, decision, payload, forced, lastRoundTripMs, bytes };
}

function isForced(payload: Uint8Array, game: DescMessage): boolean {
  const reader = new BinaryReader(payload);
  const moves = game.field.moves?.number;
  const movesComplete = game.field.movesComplete?.number;
  let offered = 0;
  let complete = false;
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === movesComplete) {
      complete = reader.bool();
    } else {
      offered += number === moves ? 1 : 0;
      reader.skip(type, number);
    }
  }
  return complete && offered === 1;
}

interface Field {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The fields of a message. Only length-delimited fields have a number and bytes. */
function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) {
      fields.push({ number, bytes: reader.bytes() });
    } else {
      reader.skip(type, number);
      fields.push({ number: 0, bytes: new Uint8Array() });
    }
  }
  return fields;
}

/** A BotMessage with encoded answers. */
export function answersFrame(answers: readonly Uint8Array[]): Uint8Array {
  const size = answers.reduce((sum, one) => sum + partSize(one.length), 0);
  const body = tagged(BotMessageSchema.field.answers.number, size);
  return Buffer.concat([
    body,
    ...answers.flatMap((one) => [tagged(AnswersSchema.field.answers.number, one.length), one]),
  ]);
}

/** The ask id of an encoded answer. */
export function askIdOf(answer: Uint8Array): bigint {
  return fromBinary(AnswerSchema, answer).askId;
}

function tagged(number: number, length: number): Uint8Array {
  const head = [(number << 3) | WireType.LengthDelimited];
  let left = length;
  while (left > 0x7f) {
    head.push((left & 0x7f) | 0x80);
    left >>>= 7;
  }
  return Uint8Array.from([...head, left]);
}

function partSize(length: number): number {
  return tagged(1, length).length + length;
}
