import { create, fromBinary, toJsonString } from "@bufbuild/protobuf";
import { type AnyAsk, Ask, closeAsk, End, eventsOf, Match, renewAsk } from "./ask.js";
import { type BatchBot, type Bot, failedChoice, type Player, resolveChoice } from "./bot.js";
import type { BusyFlag } from "./busy_flag.js";
import {
  AskSchema,
  type MatchEnd,
  MatchEndSchema,
  MatchStartSchema,
} from "./gen/cardarena/v1/play_pb.js";
import type { ChosenMove, PlayEnded, ToBotThread, ToStreamThread } from "./link.js";
import type { Logger } from "./log.js";
import { nowMs } from "./time.js";

const MAX_LOGGED_CHARS = 2000;

/** An ask, and whether the bot has received it. */
interface PendingAsk {
  readonly askId: bigint;
  readonly ask: Ask;
  open: boolean;
  delivered: boolean;
  deliveredMs: number;
}

/** A match and its bot. */
interface Seat {
  readonly match: Match;
  /** Undefined before the bot was made, and if that failed. */
  bot: Bot<AnyAsk> | undefined;
  makeError: unknown;
  last: PendingAsk | undefined;
  /** Calls that wait until the bot's promise is settled. */
  readonly waiting: BotTask[];
  busy: boolean;
}

/** A message about a match that has started. */
type SeatMessage = Extract<ToBotThread, { readonly kind: "ask" | "closed" | "reopened" | "ended" }>;

/** A call of a bot. It returns a promise if the bot does. */
type BotTask = () => Promise<void> | undefined;

/** What a bot runner uses. */
export interface RunnerContext {
  /** Sends choices to the stream thread. */
  readonly send: (choices: ToStreamThread) => void;
  /** Takes the next message of the stream thread; undefined if there is none. */
  readonly poll: () => ToBotThread | undefined;
  /** Is set while bots are called. */
  readonly busy: Pick<BusyFlag, "set" | "clear">;
  /** Called when play has ended. */
  readonly playEnded: (ended: PlayEnded) => void;
  readonly log: Logger;
}

/**
 * Calls the author's bots, and handles their errors.
 *
 * The calls of a match are in order. While a bot's promise is pending, other matches continue.
 */
export class BotRunner {
  readonly #player: Player<AnyAsk>;
  readonly #batch: BatchBot<AnyAsk> | undefined;
  readonly #context: RunnerContext;
  readonly #seats = new Map<number, Seat>();
  #queue: { readonly seat: Seat; readonly task: BotTask }[] = [];
  #batchAsks: PendingAsk[] = [];
  #batchPending = false;
  #pendingBots = 0;
  #running = false;
  #busy = false;
  #onIdle: (() => void) | undefined;

  constructor(player: Player<AnyAsk>, context: RunnerContext) {
    this.#player = player;
    this.#batch = player.batch;
    this.#context = context;
  }

  /** Processes messages of the stream thread, and calls the bots. */
  receive(...messages: readonly ToBotThread[]): void {
    for (const message of messages) {
      this.#accept(message);
    }
    this.#run();
  }

  /** Ends all matches, and waits until all bots have returned. */
  async finish(): Promise<void> {
    for (const [id, seat] of this.#seats) {
      this.#onEnded(id, seat, create(MatchEndSchema, { match: seat.match.number }));
    }
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#run();
    await idle;
  }

  #accept(message: ToBotThread): void {
    if (message.kind === "log") {
      this.#context.log[message.level](message.line);
    } else if (message.kind === "playEnded") {
      this.#context.playEnded(message);
    } else if (message.kind === "started") {
      this.#onStarted(message.seat, new Match(fromBinary(MatchStartSchema, message.start)));
    } else {
      const seat = this.#seats.get(message.seat);
      if (seat) {
        this.#acceptOf(seat, message);
      }
    }
  }

  #acceptOf(seat: Seat, message: SeatMessage): void {
    const { last } = seat;
    if (message.kind === "ask") {
      const undelivered = last && !last.delivered ? eventsOf(last.ask) : undefined;
      const ask = new Ask(message.ask, seat.match, undelivered, message.receivedMs);
      seat.last = { askId: message.askId, ask, open: true, delivered: false, deliveredMs: 0 };
      if (!message.answered) {
        this.#enqueue(seat, seat.last);
      }
    } else if (message.kind === "ended") {
      this.#onEnded(message.seat, seat, fromBinary(MatchEndSchema, message.end));
    } else if (last?.askId === message.askId) {
      last.open = message.kind === "reopened";
      if (!last.open) {
        closeAsk(last.ask);
      } else if (!last.delivered) {
        renewAsk(last.ask);
        this.#enqueue(seat, last);
      }
    }
  }

  #onStarted(id: number, match: Match): void {
    const seat: Seat = {
      match,
      bot: undefined,
      makeError: undefined,
      last: undefined,
      waiting: [],
      busy: false,
    };
    this.#seats.set(id, seat);
    this.#addTask(seat, () => {
      try {
        this.#batch?.started?.(match);
        seat.bot = this.#player.bot?.(match);
      } catch (error) {
        seat.makeError = error;
        this.#logFailure(error, `the bot failed at the start of match ${match.number}`);
      }
      return undefined;
    });
  }

  #onEnded(id: number, seat: Seat, message: MatchEnd): void {
    const { last, match } = seat;
    if (last) {
      last.open = false;
      closeAsk(last.ask);
    }
    this.#seats.delete(id);
    this.#addTask(seat, () => {
      const undelivered = last && !last.delivered ? eventsOf(last.ask) : undefined;
      const end = new End(message, match, undelivered);
      try {
        (this.#batch ?? seat.bot)?.ended?.(end);
      } catch (error) {
        this.#logFailure(error, `the bot failed at the end of match ${match.number}`);
      }
      return undefined;
    });
  }

  #enqueue(seat: Seat, pending: PendingAsk): void {
    if (this.#batch) {
      this.#batchAsks.push(pending);
    } else {
      this.#addTask(seat, () => this.#choose(seat, pending));
    }
  }

  #addTask(seat: Seat, task: BotTask): void {
    this.#queue.push({ seat, task });
  }

  /** Runs the queued tasks, and processes between them the messages that arrived meanwhile. */
  #run(): void {
    if (this.#running) {
      return;
    }
    this.#running = true;
    this.#setBusy();
    for (const { seat, task } of this.#queue.splice(0)) {
      this.#processMessages();
      seat.waiting.push(task);
      this.#runWaiting(seat);
    }
    this.#processMessages();
    this.#chooseAll();
    this.#running = false;
    if (this.#pendingBots > 0 || this.#batchPending) {
      setImmediate(() => this.#clearBusy()); // promises that are settled now are processed first
    } else {
      this.#clearBusy();
    }
    if (this.#queue.length > 0) {
      setImmediate(() => this.#run()); // timers and promises are processed first
    } else if (this.#pendingBots === 0 && !this.#batchPending && this.#batchAsks.length === 0) {
      this.#onIdle?.();
    }
  }

  #setBusy(): void {
    if (!this.#busy) {
      this.#busy = true;
      this.#context.busy.set();
    }
  }

  #clearBusy(): void {
    if (this.#busy) {
      this.#busy = false;
      this.#context.busy.clear();
    }
  }

  #processMessages(): void {
    const { poll } = this.#context;
    for (let message = poll(); message; message = poll()) {
      this.#accept(message);
    }
  }

  /** Runs the waiting tasks of a match, until its bot returns a promise. */
  #runWaiting(seat: Seat): void {
    while (!seat.busy) {
      const task = seat.waiting.shift();
      if (!task) {
        return;
      }
      const pending = task();
      if (pending) {
        seat.busy = true;
        this.#pendingBots += 1;
        pending.then(() => {
          seat.busy = false;
          this.#pendingBots -= 1;
          this.#runWaiting(seat);
          this.#run();
        });
      }
    }
  }

  #choose(seat: Seat, pending: PendingAsk): Promise<void> | undefined {
    if (!pending.open || pending.delivered) {
      return undefined;
    }
    pending.delivered = true;
    pending.deliveredMs = nowMs();
    const { bot } = seat;
    if (!bot) {
      const why = seat.makeError ?? new Error("the player has no bot");
      this.#context.send([failedChoice(pending.askId, why)]);
      return undefined;
    }
    try {
      const choice: unknown = bot.move(pending.ask);
      if (isPromise(choice)) {
        return choice.then(
          (value) => this.#send(pending, value),
          (error: unknown) => this.#failed(seat, pending, error),
        );
      }
      this.#send(pending, choice);
    } catch (error) {
      this.#failed(seat, pending, error);
    }
    return undefined;
  }

  #send(pending: PendingAsk, choice: unknown): void {
    this.#context.send([this.#resolve(pending, choice)]);
  }

  #resolve(pending: PendingAsk, choice: unknown): ChosenMove {
    try {
      return { ...resolveChoice(pending.ask, choice), deliveredMs: pending.deliveredMs };
    } catch (error) {
      return this.#logAndFail(pending, error);
    }
  }

  #failed(seat: Seat, pending: PendingAsk, error: unknown): void {
    const isAbort = (error as Error | undefined)?.name === "AbortError";
    if (!isAbort || !pending.ask.signal.aborted) {
      this.#context.send([this.#logAndFail(pending, error)]);
      return;
    }
    // The bot abandoned an ask that was closed. If it is open again, the bot is called again.
    pending.delivered = false;
    if (pending.open) {
      renewAsk(pending.ask);
      this.#enqueue(seat, pending);
    }
  }

  #logAndFail(pending: PendingAsk, error: unknown): ChosenMove {
    const { ask, askId } = pending;
    const json = toJsonString(AskSchema, ask.message).slice(0, MAX_LOGGED_CHARS);
    const where = `ask ${askId} of match ${ask.match.number} (${ask.match.game})`;
    const what = `the bot failed at ${where}; the fallback is played; the ask was ${json}`;
    this.#logFailure(error, what);
    return failedChoice(askId, error);
  }

  /** Passes all waiting asks to the batch bot together. */
  #chooseAll(): void {
    const batch = this.#batch;
    const asks = this.#batchPending || !batch ? [] : this.#batchAsks.splice(0).filter(isDue);
    if (!batch || asks.length === 0) {
      return;
    }
    for (const pending of asks) {
      pending.delivered = true;
      pending.deliveredMs = nowMs();
    }
    const send = (choices: unknown) => this.#sendAll(asks, choices);
    try {
      const choices: unknown = batch.moves(asks.map((pending) => pending.ask));
      if (!isPromise(choices)) {
        send(choices);
        return;
      }
      this.#batchPending = true;
      choices
        .then(send, (error: unknown) => this.#allFailed(asks, error))
        .then(() => {
          this.#batchPending = false;
          this.#run();
        });
    } catch (error) {
      this.#allFailed(asks, error);
    }
  }

  #sendAll(asks: readonly PendingAsk[], choices: unknown): void {
    const count = Array.isArray(choices) ? choices.length : 0;
    if (!Array.isArray(choices) || count !== asks.length) {
      const why = `the bot returned ${count} moves for ${asks.length} asks`;
      this.#allFailed(asks, new Error(why));
      return;
    }
    this.#context.send(asks.map((pending, index) => this.#resolve(pending, choices[index])));
  }

  #allFailed(asks: readonly PendingAsk[], error: unknown): void {
    const what = `the bot failed at a batch of ${asks.length}; fallbacks are played`;
    this.#logFailure(error, what);
    this.#context.send(asks.map((pending) => failedChoice(pending.askId, error)));
  }

  #logFailure(error: unknown, what: string): void {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#context.log.error(`${what}: ${why}`);
  }
}

function isDue(pending: PendingAsk): boolean {
  return pending.open && !pending.delivered;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
