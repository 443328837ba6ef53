import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { create, toBinary } from "@bufbuild/protobuf";
import type { AnyAsk } from "./ask.js";
import { Author } from "./author.js";
import type { Player } from "./bot.js";
import { safetyOf } from "./dial.js";
import { LiedError, MisconfiguredError, RefusedError, UnreachableError } from "./errors.js";
import { ALL_GAMES } from "./families.js";
import { Capability, type Hello, HelloSchema } from "./gen/cardarena/v1/play_pb.js";
import type { Over, StreamData, ToAuthor, ToStream } from "./link.js";
import { type Logger, STDERR } from "./log.js";
import { CONTRACT } from "./session.js";
import { Turn } from "./turn.js";

/** The SDK's. */
export const VERSION = "0.1.0";
const DEFAULT_ADDRESS = "localhost:7654";
const AT_ONCE = 64;
const GUEST = "guest:";

/** Exit codes of `run`, the same in every language. */
export const EXIT = { unreachable: 1, refused: 2, lied: 3, interrupted: 130 } as const;

/** Where to play and as whom. What is left out is taken from the environment. */
export interface Options {
  /** HOST:PORT, https://HOST:PORT or unix:PATH; else CARDARENA_ADDRESS, else localhost:7654. */
  readonly address?: string | undefined;
  /** Who the bot is; else CARDARENA_TOKEN, else `guest:` and the player's name. */
  readonly token?: string | undefined;
  /**
   * A folder of this bot's own for what it can prove of fair deals; else CARDARENA_RECEIPTS, else
   * nothing is kept.
   */
  readonly receipts?: string | undefined;
  /**
   * Ends when the arena ends its stream in order, and gives up after ten seconds without an arena;
   * also if CARDARENA_ONCE is 1.
   */
  readonly once?: boolean | undefined;
  /** TLS also for an address without https://. */
  readonly tls?: boolean | undefined;
  /** PEM of the certificates that sign the arena's, a file; else CARDARENA_CA. */
  readonly ca?: string | undefined;
  /** The bot's own certificate and its key, files; else CARDARENA_CLIENT_CERT and _KEY. */
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Lets the token go to another machine in plain text. */
  readonly insecure?: boolean | undefined;
  /** Is told what the author should know; else it is written to stderr. */
  readonly logger?: Logger | undefined;
  /** Ends play at once. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Plays until the arena sends the bot home.
 *
 * @throws RefusedError, UnreachableError, MisconfiguredError or LiedError; the signal's reason if
 *   that is aborted.
 */
export async function play<A extends AnyAsk>(
  player: Player<A>,
  options: Options = {},
): Promise<void> {
  const data = streamData(player, options);
  const { port1: port, port2 } = new MessageChannel();
  const turn = new Turn();
  const unread: ToAuthor[] = [];
  options.signal?.throwIfAborted();
  const worker = new Worker(new URL("./thread.js", import.meta.url), {
    workerData: { data, port: port2, turn: turn.shared },
    transferList: [port2],
  });
  let abort = () => {};
  try {
    const told = await new Promise<Over>((resolve, reject) => {
      const author = new Author(player, {
        send: (choices: ToStream) => port.postMessage(choices),
        poll: () => {
          if (unread.length === 0) {
            unread.push(...((receiveMessageOnPort(port)?.message ?? []) as readonly ToAuthor[]));
          }
          return unread.shift();
        },
        turn,
        over: (over) => author.finish().then(() => resolve(over)),
        log: options.logger ?? STDERR,
      });
      abort = () => reject(options.signal?.reason);
      options.signal?.addEventListener("abort", abort);
      worker.on("error", reject);
      port.on("message", (told: readonly ToAuthor[]) => author.receive(...told));
    });
    endWith(told);
  } finally {
    options.signal?.removeEventListener("abort", abort);
    port.close();
    await worker.terminate();
  }
}

/** Plays as a program: it reads the command line, logs to stderr, and ends with an exit code. */
export async function run<A extends AnyAsk>(player: Player<A>): Promise<never> {
  const options = flags();
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  try {
    await play(player, { ...options, signal: interrupted.signal });
  } catch (error) {
    if (!interrupted.signal.aborted || error instanceof LiedError) {
      STDERR.error(isOurs(error) ? error.message : ((error as Error).stack ?? String(error)));
    }
    process.exit(exitCode(error, interrupted.signal.aborted));
  }
  process.exit(0);
}

function isOurs(error: unknown): error is Error {
  const ours = [RefusedError, UnreachableError, MisconfiguredError, LiedError];
  return ours.some((kind) => error instanceof kind);
}

function exitCode(error: unknown, interrupted: boolean): number {
  if (error instanceof LiedError) {
    return EXIT.lied;
  }
  if (interrupted) {
    return EXIT.interrupted;
  }
  const refused = error instanceof RefusedError || error instanceof MisconfiguredError;
  return refused ? EXIT.refused : EXIT.unreachable;
}

const HELP = `Plays at an arena until that sends the bot home.

  --address ADDRESS    HOST:PORT, https://HOST:PORT or unix:PATH (else $CARDARENA_ADDRESS, else ${DEFAULT_ADDRESS})
  --token TOKEN        who the bot is (else $CARDARENA_TOKEN, which others cannot see, else guest: and the bot's name)
  --receipts FOLDER    keep what proves the deals in this folder (else $CARDARENA_RECEIPTS)
  --tls                use TLS, as with https://
  --ca FILE            the arena's root certificates, PEM (else $CARDARENA_CA)
  --client-cert FILE   the bot's own certificate, PEM, if the arena wants one (else $CARDARENA_CLIENT_CERT)
  --client-key FILE    its private key, PEM (else $CARDARENA_CLIENT_KEY)
  --insecure           let the token leave this machine in plain text

Exit codes: 0 sent home, 1 no arena, 2 refused, 3 lied to.`;

/** The flags of all SDKs, from the command line; what is no flag of theirs ends the program. */
function flags(): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    const { values } = parseArgs({
      options: {
        address: text,
        token: text,
        receipts: text,
        tls: flag,
        ca: text,
        "client-cert": text,
        "client-key": text,
        insecure: flag,
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) {
      console.log(HELP);
      process.exit(0);
    }
    const { "client-cert": clientCert, "client-key": clientKey, ...others } = values;
    return { ...others, clientCert, clientKey };
  } catch (error) {
    STDERR.error((error as Error).message);
    return process.exit(EXIT.refused);
  }
}

function endWith({ error, lies }: Over): void {
  const ended = error && errorOf(error);
  if (lies.length > 0) {
    throw new LiedError(lies, ended && { cause: ended });
  }
  if (ended) {
    throw ended;
  }
}

/** An error of the stream's thread: threads hand on no classes. */
function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  const kinds = [RefusedError, UnreachableError, MisconfiguredError];
  const kind = kinds.find((one) => one.name === name);
  return kind ? new kind(message) : new Error(`${name}: ${message}`);
}

function streamData<A extends AnyAsk>(player: Player<A>, options: Options): StreamData {
  const { env } = process;
  const address = options.address || env.CARDARENA_ADDRESS || DEFAULT_ADDRESS;
  const token = options.token || env.CARDARENA_TOKEN || GUEST + player.name;
  const safety = safetyOf({
    address,
    tls: Boolean(options.tls || options.ca || options.clientCert || options.clientKey),
    insecure: options.insecure ?? false,
    ca: options.ca || env.CARDARENA_CA || "",
    clientCert: options.clientCert || env.CARDARENA_CLIENT_CERT || "",
    clientKey: options.clientKey || env.CARDARENA_CLIENT_KEY || "",
  });
  return {
    hello: toBinary(HelloSchema, helloOf(player, token)),
    askForced: player.askForced ?? false,
    address,
    once: options.once || env.CARDARENA_ONCE === "1",
    receipts: options.receipts || env.CARDARENA_RECEIPTS || "",
    addsEntropy: player.addsEntropy ?? true,
    safety,
  };
}

function helloOf<A extends AnyAsk>(player: Player<A>, token: string): Hello {
  if (!player.bot && !player.batch) {
    throw new MisconfiguredError(`${player.name} has neither bot nor batch, to choose its moves`);
  }
  const games = player.games ?? ALL_GAMES;
  const unknown = games.find((game) => !ALL_GAMES.includes(game));
  if (unknown !== undefined) {
    const known = ALL_GAMES.join(", ");
    throw new RefusedError(`this version of the SDK knows no game ${unknown}: it knows ${known}`);
  }
  // A secret of this run, so that nobody else takes a guest's seats meanwhile.
  const isBare = token.startsWith(GUEST) && token.split(":").length === 2;
  return create(HelloSchema, {
    token: isBare ? `${token}:${randomBytes(16).toString("hex")}` : token,
    sdk: `cardarena-typescript/${VERSION}`,
    games: games.map((game) => ({ game })),
    maxMatches: player.maxMatches ?? AT_ONCE,
    maxOpenAsks: player.maxOpenAsks ?? AT_ONCE,
    wantText: player.wantText ?? false,
    contract: CONTRACT,
    capabilities: [Capability.REDIRECT],
    addsEntropy: player.addsEntropy ?? true,
    version: player.version ?? "",
  });
}
