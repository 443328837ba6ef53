/**
 * The stream thread. It keeps the connection to the arena, and processes its messages.
 *
 * The author's bots run on the main thread. A bot that computes for a minute therefore does not
 * stop the answers to pings and the processing of messages.
 */
import { randomBytes } from "node:crypto";
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { fromBinary } from "@bufbuild/protobuf";
import { BusyFlag } from "./busy_flag.js";
import { Connection } from "./connection.js";
import { Deals } from "./deals.js";
import { MisconfiguredError } from "./errors.js";
import { HelloSchema } from "./gen/cardarena/v1/play_pb.js";
import { HASH_BYTES } from "./hashes.js";
import type { PlayEnded, StreamData, ToBotThread, ToStreamThread } from "./link.js";
import { ReceiptFolder } from "./receipts.js";
import { Redial } from "./redial.js";
import { Session } from "./session.js";
import { nowMs } from "./time.js";

/** What the main thread starts this thread with. */
interface WorkerData {
  readonly data: StreamData;
  readonly port: MessagePort;
  readonly busy: SharedArrayBuffer;
}

async function play(data: StreamData, port: MessagePort, busy: BusyFlag): Promise<void> {
  const unsent: ToBotThread[] = [];
  const flush = () => {
    if (unsent.length > 0) {
      port.postMessage(unsent.splice(0));
    }
  };
  /** Sends a message to the bot thread, together with the others of the same frame. */
  const post = (message: ToBotThread) => {
    if (unsent.push(message) === 1) {
      queueMicrotask(flush);
    }
  };
  let deals: Deals | undefined;
  let error: PlayEnded["error"];
  try {
    deals = data.addsEntropy ? dealsOf(data.receipts) : undefined;
    const session = new Session(fromBinary(HelloSchema, data.hello), data.askForced, deals, post);
    const redial = new Redial(data.address, data.once, nowMs, Math.random);
    const gather = () => {
      busy.wait();
      for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
        session.answer(next.message as ToStreamThread);
      }
    };
    const log = (level: "info" | "warn", line: string) => post({ kind: "log", level, line });
    const connection = new Connection(session, redial, data.security, nowMs, log, gather);
    port.on("message", (choices: ToStreamThread) => session.answer(choices));
    await connection.run();
  } catch (thrown) {
    const { name, message } = thrown as Error;
    error = { name, message };
  }
  post({ kind: "playEnded", error, lies: deals?.lies ?? [] });
  flush();
  port.close();
}

function dealsOf(folder: string): Deals {
  return new Deals(folder ? receiptsIn(folder) : undefined, () => randomBytes(HASH_BYTES));
}

function receiptsIn(folder: string): ReceiptFolder {
  try {
    return new ReceiptFolder(folder);
  } catch (error) {
    throw new MisconfiguredError(`cannot store receipts in ${folder}: ${(error as Error).message}`);
  }
}

const { data, port, busy } = workerData as WorkerData;
await play(data, port, new BusyFlag(busy));
