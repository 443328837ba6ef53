/**
 * The stream's thread: it keeps the contract, while the author's code thinks on the thread that it
 * was started on. So a bot that computes for a minute still answers the arena's pings, and hears at
 * once what is said meanwhile.
 */
import { randomBytes } from "node:crypto";
import { type MessagePort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { fromBinary } from "@bufbuild/protobuf";
import { Connection } from "./connection.js";
import { Deals } from "./deals.js";
import { MisconfiguredError } from "./errors.js";
import { HelloSchema } from "./gen/cardarena/v1/play_pb.js";
import type { Over, StreamData, ToAuthor, ToStream } from "./link.js";
import { HASH_BYTES } from "./protocol.js";
import { Receipts } from "./receipts.js";
import { Redial } from "./redial.js";
import { Session } from "./session.js";
import { nowMs } from "./time.js";
import { Turn } from "./turn.js";

interface Begun {
  readonly data: StreamData;
  readonly port: MessagePort;
  readonly turn: SharedArrayBuffer;
}

async function play(data: StreamData, port: MessagePort, turn: Turn): Promise<void> {
  const told: ToAuthor[] = [];
  const handOn = () => {
    if (told.length > 0) {
      port.postMessage(told.splice(0));
    }
  };
  /** What one frame says goes to the author together. */
  const tell = (one: ToAuthor) => {
    if (told.push(one) === 1) {
      queueMicrotask(handOn);
    }
  };
  let deals: Deals | undefined;
  let error: Over["error"];
  try {
    deals = data.addsEntropy ? dealsOf(data.receipts) : undefined;
    const session = new Session(fromBinary(HelloSchema, data.hello), data.askForced, deals, tell);
    const redial = new Redial(data.address, data.once, nowMs, Math.random);
    const gather = () => {
      turn.wait();
      for (let one = receiveMessageOnPort(port); one; one = receiveMessageOnPort(port)) {
        session.answer(one.message as ToStream);
      }
    };
    const say = (level: "info" | "warn", line: string) => tell({ kind: "say", level, line });
    const connection = new Connection(session, redial, data.safety, nowMs, say, gather);
    port.on("message", (choices: ToStream) => session.answer(choices));
    await connection.run();
  } catch (thrown) {
    const { name, message } = thrown as Error;
    error = { name, message };
  }
  tell({ kind: "over", error, lies: deals?.lies ?? [] });
  handOn();
  port.close();
}

function dealsOf(folder: string): Deals {
  return new Deals(folder ? receiptsIn(folder) : undefined, () => randomBytes(HASH_BYTES));
}

function receiptsIn(folder: string): Receipts {
  try {
    return new Receipts(folder);
  } catch (error) {
    throw new MisconfiguredError(
      `receipts cannot be kept in ${folder}: ${(error as Error).message}`,
    );
  }
}

const { data, port, turn } = workerData as Begun;
await play(data, port, new Turn(turn));
