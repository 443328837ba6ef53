/** A scripted arena. Every match is Jam, and moves play cards of one suit. */
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { readFrame } from "./frames.js";
import { EventKind, type Move, moves, Verb } from "./games/jam.js";
import { Ending } from "./gen/cardarena/v1/game_pb.js";
import {
  type ArenaMessage,
  ArenaMessageSchema,
  type Ask,
  AskSchema,
  BotMessageSchema,
  HelloSchema,
} from "./gen/cardarena/v1/play_pb.js";
import type { ToBotThread } from "./link.js";
import { Outbox } from "./outbox.js";
import { type Received, Session } from "./session.js";

export { Ending, EventKind, type Move, moves, Verb };

type Body = Exclude<MessageInitShape<typeof ArenaMessageSchema>["body"], undefined>;

export function jamAsk(id: number, match = 1, offered = 3): Ask {
  return create(AskSchema, {
    askId: BigInt(id),
    match,
    decision: 1,
    clock: { moveMs: 1000 },
    playedFor: [{ seat: 1, eventsBefore: 1 }],
    game: {
      case: "jam",
      value: {
        view: {},
        events: [{ seat: id }],
        moves: [..."23456789"].slice(0, offered).map((rank) => moves.play(`${rank}c`)),
        movesComplete: true,
      },
    },
  });
}

/** A scripted arena with a session. */
export class Arena {
  readonly posted: ToBotThread[] = [];
  readonly session: Session;
  out = new Outbox(() => {});

  constructor(askForced = true) {
    const hello = create(HelloSchema);
    this.session = new Session(hello, askForced, undefined, (message) => this.posted.push(message));
    this.stream(1);
    this.send({ case: "matchStart", value: { match: 1, terms: { game: "jam" } } });
  }

  stream(epoch: number, ...openAsks: Ask[]): void {
    this.out = new Outbox(() => {});
    this.session.streamOpened(this.out);
    const matches = epoch > 1 ? [{ match: 1, terms: { game: "jam" } }] : [];
    this.out.take();
    this.send({ case: "welcome", value: { epoch, openAsks, matches } });
  }

  send(body: Body): Received {
    return this.session.receive(frame(create(ArenaMessageSchema, { body })), 0);
  }

  asks(...asks: Ask[]): Received {
    return this.send({ case: "asks", value: { asks } });
  }

  /** The ids of the asks that were answered since the last call. */
  answers(): number[] {
    return sentBy(this.out).map((answer) => Number(answer.askId));
  }

  /** The kinds of the messages to the bot thread since the last call, with the ids of asks. */
  kinds(): string[] {
    return this.posted
      .splice(0)
      .map((one) => ("askId" in one ? `${one.kind} ${one.askId}` : one.kind));
  }
}

export function frame(message: ArenaMessage) {
  return readFrame(toBinary(ArenaMessageSchema, message));
}

/** The answers of a frame. */
export function answersIn(bytes: Uint8Array) {
  const { body } = fromBinary(BotMessageSchema, bytes);
  return body.case === "answers" ? body.value.answers : [];
}

export function sentBy(out: Outbox) {
  return out.take().flatMap(answersIn);
}
