import { setTimeout as wait } from "node:timers/promises";
import { type ClientDuplexStream, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { detailsOf } from "./details.js";
import { dial } from "./dial.js";
import { RefusedError } from "./errors.js";
import { type Frame, readFrame } from "./frames.js";
import type { Safety } from "./link.js";
import { Outbox } from "./outbox.js";
import { type Redial, type StreamEnd, shortly } from "./redial.js";
import type { Session } from "./session.js";

const PLAY = "/cardarena.v1.PlayService/Play";

type Call = ClientDuplexStream<Uint8Array, Frame>;
type Say = (level: "info" | "warn", line: string) => void;

/** How a stream ended, as its reader saw it. */
interface ReadEnd {
  readonly welcomed: boolean;
  readonly redirect: string;
  readonly status: StatusObject;
}

/** A bot's connection with the arena, over as many streams as it takes. */
export class Connection {
  readonly #session: Session;
  readonly #redial: Redial;
  readonly #safety: Safety;
  readonly #nowMs: () => number;
  readonly #say: Say;
  readonly #gather: () => void;
  #playing = 0;

  /** `gather` is called before what there is to say is sent: there may be more that is ready. */
  constructor(
    session: Session,
    redial: Redial,
    safety: Safety,
    nowMs: () => number,
    say: Say,
    gather: () => void,
  ) {
    this.#session = session;
    this.#redial = redial;
    this.#safety = safety;
    this.#nowMs = nowMs;
    this.#say = say;
    this.#gather = gather;
  }

  /**
   * Opens stream after stream until play is over.
   *
   * @throws RefusedError, UnreachableError or MisconfiguredError.
   */
  async run(): Promise<void> {
    let next = this.#redial.first();
    for (;;) {
      if (next.delayMs > 0) {
        await wait(next.delayMs);
      }
      const end = await this.#stream(next.endpoint);
      const following = this.#redial.after(end);
      if (!following) {
        return;
      }
      next = following;
      if (end.redirect) {
        this.#say("info", `redirected to ${next.endpoint}`);
      } else if (end.welcomed) {
        this.#say("info", `the stream ended (${shortly(end)}); connecting again`);
      } else {
        this.#say("info", `no arena at ${next.endpoint} (${shortly(end)}); trying again`);
      }
    }
  }

  /** Plays on one stream until it ends. */
  async #stream(endpoint: string): Promise<StreamEnd> {
    const beganMs = this.#nowMs();
    const client = dial(endpoint, this.#safety);
    try {
      const call: Call = client.makeBidiStreamRequest(PLAY, asBuffer, readFrame, new Metadata());
      this.#session.opened(new Writer(call, this.#gather).out);
      const end = await this.#read(call);
      const { reason, retryMs } = detailsOf(end.status.metadata);
      return {
        code: end.status.code,
        details: end.status.details,
        welcomed: end.welcomed,
        livedMs: this.#nowMs() - beganMs,
        draining: this.#session.draining,
        redirect: end.redirect,
        retryMs,
        reason,
      };
    } finally {
      this.#session.lost();
      client.close();
    }
  }

  #read(call: Call): Promise<ReadEnd> {
    return new Promise((resolve, reject) => {
      const read = { welcomed: false, redirect: "", over: false };
      const finish = (status: StatusObject) => {
        read.over = true;
        resolve({ ...read, status });
      };
      call.on("data", (frame: Frame) => {
        if (read.over) {
          return;
        }
        const received = this.#session.receive(frame, this.#nowMs());
        for (const line of received.say) {
          this.#say("warn", line);
        }
        read.welcomed ||= received.welcomed;
        read.redirect = received.redirect;
        if (received.refused) {
          read.over = true;
          call.cancel();
          reject(new RefusedError(received.refused));
          return;
        }
        if (received.redirect) {
          call.cancel();
          finish({ code: status.OK, details: "", metadata: new Metadata() });
        }
        this.#tellPlaying(received.welcomed);
      });
      call.on("error", () => {}); // it comes as a status too
      call.on("status", (status: StatusObject) => {
        // What was said before the end may wait to be read still.
        if (call.readableLength > 0) {
          call.once("end", () => finish(status));
        } else {
          finish(status);
        }
      });
    });
  }

  #tellPlaying(welcomed: boolean): void {
    const games = this.#session.seated;
    const before = this.#playing;
    this.#playing = games.length;
    if (welcomed) {
      this.#say("info", `welcome to the arena; matches in play: ${games.length}`);
    } else if (games.length === 0 && before > 0) {
      this.#say("info", "waiting for a match");
    } else if (games.length > before) {
      this.#say("info", `playing ${games.at(-1)}; matches in play: ${games.length}`);
    }
  }
}

/** Writes what gathers in an outbox, whenever the call takes more. */
class Writer {
  /** What is to be written. */
  readonly out = new Outbox(() => this.#schedule());
  readonly #call: Call;
  readonly #gather: () => void;
  #scheduled = false;
  #full = false;

  constructor(call: Call, gather: () => void) {
    this.#call = call;
    this.#gather = gather;
    call.on("drain", () => {
      this.#full = false;
      this.#schedule();
    });
  }

  /** Writes after what has come by now was read, so that the answers to it go together. */
  #schedule(): void {
    if (!this.#scheduled && !this.#full) {
      this.#scheduled = true;
      setImmediate(() => this.#write());
    }
  }

  #write(): void {
    this.#gather(); // which schedules nothing meanwhile
    this.#scheduled = false;
    for (const frame of this.out.take()) {
      this.#full = !this.#call.write(frame);
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
