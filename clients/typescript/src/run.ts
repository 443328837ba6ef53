import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import { create, toBinary } from "@bufbuild/protobuf";
import type { AnyAsk } from "./ask.js";
import type { Player } from "./bot.js";
import { BotRunner } from "./bot_runner.js";
import { BusyFlag } from "./busy_flag.js";
import { securityOf } from "./dial.js";
import { LiedError, MisconfiguredError, RefusedError, UnreachableError } from "./errors.js";
import { ALL_GAMES } from "./families.js";
import { Capability, type Hello, HelloSchema } from "./gen/cardarena/v1/play_pb.js";
import type { PlayEnded, StreamData, ToBotThread, ToStreamThread } from "./link.js";
import { type Logger, STDERR } from "./log.js";
import { CONTRACT } from "./session.js";

/** The version of this SDK. */
export const VERSION = "1.0.0-rc1";
const DEFAULT_ADDRESS = "localhost:7654";
const DEFAULT_CONCURRENCY = 64;
const GUEST = "guest:";

/** Exit codes of `run`. All SDKs use the same codes. */
export const EXIT = { unreachable: 1, refused: 2, lied: 3, interrupted: 130 } as const;

/**
 * Where to play, and as whom. An option that is left out is read from the environment variable that
 * its comment names.
 */
export interface Options {
  /** HOST:PORT, https://HOST:PORT or unix:PATH. Default: CARDARENA_ADDRESS or localhost:7654. */
  readonly address?: string | undefined;
  /** The bot's token. Default: CARDARENA_TOKEN or guest:NAME, with the player's name. */
  readonly token?: string | undefined;
  /**
   * The folder where receipts of fair deals are stored, one folder for each bot. Default:
   * CARDARENA_RECEIPTS; without it no receipts are stored.
   */
  readonly receipts?: string | undefined;
  /**
   * Stops when the arena closes the stream in order, and after ten seconds without a connection.
   * Also set by CARDARENA_ONCE=1.
   */
  readonly once?: boolean | undefined;
  /** Uses TLS also for an address without https://. */
  readonly tls?: boolean | undefined;
  /** File with the root certificates for the arena's certificate, PEM. Default: CARDARENA_CA. */
  readonly ca?: string | undefined;
  /** File with the bot's certificate, PEM. Default: CARDARENA_CLIENT_CERT. */
  readonly clientCert?: string | undefined;
  /** File with the key of that certificate, PEM. Default: CARDARENA_CLIENT_KEY. */
  readonly clientKey?: string | undefined;
  /** Allows sending the token to another machine in plain text. */
  readonly insecure?: boolean | undefined;
  /** Receives the log. Default: stderr. */
  readonly logger?: Logger | undefined;
  /** Ends play when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Plays until the arena ends play.
 *
 * @throws RefusedError, UnreachableError, MisconfiguredError or LiedError; the reason of the signal
 * if that is aborted.
 */
export async function play<A extends AnyAsk>(
  player: Player<A>,
  options: Options = {},
): Promise<void> {
  const data = streamData(player, options);
  const { port1: port, port2 } = new MessageChannel();
  const busy = new BusyFlag();
  const unread: ToBotThread[] = [];
  options.signal?.throwIfAborted();
  const worker = new Worker(new URL("./thread.js", import.meta.url), {
    workerData: { data, port: port2, busy: busy.shared },
    transferList: [port2],
  });
  let abort = () => {};
  try {
    const ended = await new Promise<PlayEnded>((resolve, reject) => {
      const runner = new BotRunner(player, {
        send: (choices: ToStreamThread) => port.postMessage(choices),
        poll: () => {
          if (unread.length === 0) {
            const next = receiveMessageOnPort(port)?.message ?? [];
            unread.push(...(next as readonly ToBotThread[]));
          }
          return unread.shift();
        },
        busy,
        playEnded: (message) => runner.finish().then(() => resolve(message)),
        log: options.logger ?? STDERR,
      });
      abort = () => reject(options.signal?.reason);
      options.signal?.addEventListener("abort", abort);
      worker.on("error", reject);
      port.on("message", (messages: readonly ToBotThread[]) => runner.receive(...messages));
    });
    throwErrorOf(ended);
  } finally {
    options.signal?.removeEventListener("abort", abort);
    port.close();
    await worker.terminate();
  }
}

/** Plays as a program: it parses the command line, logs to stderr, and exits with an exit code. */
export async function run<A extends AnyAsk>(player: Player<A>): Promise<never> {
  const options = flags();
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort());
  try {
    await play(player, { ...options, signal: interrupted.signal });
  } catch (error) {
    if (!interrupted.signal.aborted || error instanceof LiedError) {
      STDERR.error(isPlayError(error) ? error.message : ((error as Error).stack ?? String(error)));
    }
    process.exit(exitCode(error, interrupted.signal.aborted));
  }
  process.exit(0);
}

function isPlayError(error: unknown): error is Error {
  const kinds = [RefusedError, UnreachableError, MisconfiguredError, LiedError];
  return kinds.some((kind) => error instanceof kind);
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

const HELP = `Plays at an arena until the arena ends play.

  --address ADDRESS    HOST:PORT, https://HOST:PORT or unix:PATH (default: $CARDARENA_ADDRESS or ${DEFAULT_ADDRESS})
  --token TOKEN        the bot's token (default: $CARDARENA_TOKEN or guest:NAME; other users of this machine can see
                       a token on the command line)
  --receipts FOLDER    store receipts of fair deals in this folder, one for each bot (default: $CARDARENA_RECEIPTS)
  --tls                use TLS, as with an https:// address
  --ca FILE            root certificates for the arena's certificate, PEM (default: $CARDARENA_CA)
  --client-cert FILE   the bot's certificate, PEM, if the arena requires one (default: $CARDARENA_CLIENT_CERT)
  --client-key FILE    the private key of that certificate, PEM (default: $CARDARENA_CLIENT_KEY)
  --insecure           allow sending the token to another machine in plain text

Exit codes: 0 the arena ended play, 1 the arena is unreachable, 2 the arena refused the bot or an option is wrong,
3 the arena lied about its deals.`;

/** Parses the flags that all SDKs have. An unknown flag ends the program. */
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

function throwErrorOf({ error, lies }: PlayEnded): void {
  const cause = error && errorOf(error);
  if (lies.length > 0) {
    throw new LiedError(lies, cause && { cause });
  }
  if (cause) {
    throw cause;
  }
}

/** An error of the stream thread. Messages between threads lose the classes of errors. */
function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  const kinds = [RefusedError, UnreachableError, MisconfiguredError];
  const kind = kinds.find((one) => one.name === name);
  return kind ? new kind(message) : new Error(`${name}: ${message}`);
}

function streamData<A extends AnyAsk>(player: Player<A>, options: Options): StreamData {
  const { env } = process;
  const address = options.address || env.CARDARENA_ADDRESS || DEFAULT_ADDRESS;
  const token = options.token || env.CARDARENA_TOKEN || GUEST + player.name;
  const security = securityOf({
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
    security,
  };
}

function helloOf<A extends AnyAsk>(player: Player<A>, token: string): Hello {
  if (!player.bot && !player.batch) {
    throw new MisconfiguredError(`the player ${player.name} has no bot: set bot or batch`);
  }
  const games = player.games ?? ALL_GAMES;
  const unknown = games.find((game) => !ALL_GAMES.includes(game));
  if (unknown !== undefined) {
    const known = ALL_GAMES.join(", ");
    throw new RefusedError(
      `this version of the SDK does not support the game ${unknown}: it supports ${known}`,
    );
  }
  // A random suffix, so that another guest of the same name cannot take over the matches.
  const needsSuffix = token.startsWith(GUEST) && token.split(":").length === 2;
  return create(HelloSchema, {
    token: needsSuffix ? `${token}:${randomBytes(16).toString("hex")}` : token,
    sdk: `cardarena-typescript/${VERSION}`,
    games: games.map((game) => ({ game })),
    maxMatches: player.maxMatches ?? DEFAULT_CONCURRENCY,
    maxOpenAsks: player.maxOpenAsks ?? DEFAULT_CONCURRENCY,
    wantText: player.wantText ?? false,
    contract: CONTRACT,
    capabilities: [Capability.REDIRECT],
    addsEntropy: player.addsEntropy ?? true,
    version: player.version ?? "",
  });
}
