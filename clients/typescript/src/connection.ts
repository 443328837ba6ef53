import { setTimeout as wait } from "node:timers/promises";
import { type ClientDuplexStream, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { dial } from "./dial.js";
import { errorDetails } from "./error_details.js";
import { RefusedError } from "./errors.js";
import { type Frame, readFrame } from "./frames.js";
import type { Security } from "./link.js";
import { Outbox } from "./outbox.js";
import { type Redial, type StreamEnd, summary } from "./redial.js";
import type { Session } from "./session.js";

const PLAY = "/cardarena.v1.PlayService/Play";

type Call = ClientDuplexStream<Uint8Array, Frame>;
type Log = (level: "info" | "warn", line: string) => void;

/** How a stream ended, as its reader knows it. */
interface ReadEnd {
  readonly welcomed: boolean;
  readonly redirect: string;
  readonly status: StatusObject;
}

/** The connection of a bot to the arena: one stream after another. */
export class Connection {
  readonly #session: Session;
  readonly #redial: Redial;
  readonly #security: Security;
  readonly #nowMs: () => number;
  readonly #log: Log;
  readonly #gather: () => void;
  #matchesBefore = 0;

  /** `gather` is called before messages are sent: more answers may be ready. */
  constructor(
    session: Session,
    redial: Redial,
    security: Security,
    nowMs: () => number,
    log: Log,
    gather: () => void,
  ) {
    this.#session = session;
    this.#redial = redial;
    this.#security = security;
    this.#nowMs = nowMs;
    this.#log = log;
    this.#gather = gather;
  }

  /**
   * Opens one stream after another until play ends.
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
        this.#log("info", `the arena redirected the bot to ${next.endpoint}`);
      } else if (end.welcomed) {
        this.#log("info", `the stream ended (${summary(end)}); reconnecting`);
      } else {
        this.#log("info", `cannot connect to ${next.endpoint} (${summary(end)}); retrying`);
      }
    }
  }

  /** Plays on one stream until it ends. */
  async #stream(endpoint: string): Promise<StreamEnd> {
    const openedMs = this.#nowMs();
    const client = dial(endpoint, this.#security);
    try {
      const call: Call = client.makeBidiStreamRequest(PLAY, asBuffer, readFrame, new Metadata());
      this.#session.streamOpened(new Writer(call, this.#gather).out);
      const end = await this.#read(call);
      const { reason, retryDelayMs } = errorDetails(end.status.metadata);
      return {
        code: end.status.code,
        details: end.status.details,
        welcomed: end.welcomed,
        openForMs: this.#nowMs() - openedMs,
        draining: this.#session.draining,
        redirect: end.redirect,
        retryDelayMs,
        reason,
      };
    } finally {
      this.#session.streamLost();
      client.close();
    }
  }

  #read(call: Call): Promise<ReadEnd> {
    return new Promise((resolve, reject) => {
      const read = { welcomed: false, redirect: "", ended: false };
      const finish = (status: StatusObject) => {
        read.ended = true;
        resolve({ ...read, status });
      };
      call.on("data", (frame: Frame) => {
        if (read.ended) {
          return;
        }
        const received = this.#session.receive(frame, this.#nowMs());
        for (const line of received.warnings) {
          this.#log("warn", line);
        }
        read.welcomed ||= received.welcomed;
        read.redirect = received.redirect;
        if (received.refused) {
          read.ended = true;
          call.cancel();
          reject(new RefusedError(received.refused));
          return;
        }
        if (received.redirect) {
          call.cancel();
          finish({ code: status.OK, details: "", metadata: new Metadata() });
        }
        this.#logMatches(received.welcomed);
      });
      call.on("error", () => {}); // the status event has it too
      call.on("status", (status: StatusObject) => {
        // Messages that arrived before the end may still wait to be read.
        if (call.readableLength > 0) {
          call.once("end", () => finish(status));
        } else {
          finish(status);
        }
      });
    });
  }

  #logMatches(welcomed: boolean): void {
    const { games } = this.#session;
    const before = this.#matchesBefore;
    this.#matchesBefore = games.length;
    if (welcomed) {
      this.#log("info", `connected to the arena; matches in play: ${games.length}`);
    } else if (games.length === 0 && before > 0) {
      this.#log("info", "waiting for a match");
    } else if (games.length > before) {
      this.#log("info", `playing ${games.at(-1)}; matches in play: ${games.length}`);
    }
  }
}

/** Writes the messages of an outbox whenever the call has room. */
class Writer {
  /** The messages to write. */
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

  /**
   * Writes after the messages that have arrived are read, so that their answers are sent together.
   */
  #schedule(): void {
    if (!this.#scheduled && !this.#full) {
      this.#scheduled = true;
      setImmediate(() => this.#write());
    }
  }

  #write(): void {
    this.#gather(); // does not schedule another write
    this.#scheduled = false;
    for (const frame of this.out.take()) {
      this.#full = !this.#call.write(frame);
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
