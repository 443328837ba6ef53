import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AskTimes } from "./ask_times.js";
import { dealName } from "./deal_set.js";
import type { Deals, Reaction } from "./deals.js";
import { type AskFrame, type Frame, frameOf } from "./frames.js";
import { FaultKind, GameMoveSchema } from "./gen/cardarena/v1/game_pb.js";
import {
  AnswerSchema,
  type ArenaMessage,
  type AskClosed,
  BotMessageSchema,
  GameRefusal,
  type Hello,
  type Limits,
  type MatchEnd,
  MatchEndSchema,
  type MatchStart,
  MatchStartSchema,
  RefusalReason,
  type Welcome,
} from "./gen/cardarena/v1/play_pb.js";
import type { ChosenMove, ToBotThread } from "./link.js";
import type { Outbox } from "./outbox.js";
import { nowMs } from "./time.js";

/** The contract version that this SDK supports. */
export const CONTRACT = 1;
const DEFAULT_NOTE_CHARS = 200;
/** The maximum number of remembered ends of matches. An arena repeats at most the last 64. */
const MAX_REMEMBERED_ENDS = 1024;

/** The bot's seat at a match. */
interface Seat {
  /** A number that the process uses once, also if the arena reuses a match's number. */
  readonly id: number;
  readonly match: number;
  readonly game: string;
  /** The encoded MatchStart. */
  readonly start: Uint8Array;
  /** The last ask, open or not, and the encoded answer to it. */
  ask: { readonly askId: bigint; open: boolean } | undefined;
  answer: Uint8Array | undefined;
  readonly times: AskTimes;
}

/** What to do about a frame of the arena. */
export interface Received {
  /** Lines for the log. */
  readonly warnings: string[];
  welcomed: boolean;
  /** Where the arena sends the bot; empty if nowhere. */
  redirect: string;
  /** Why the bot cannot play at this arena; empty if it can. */
  refused: string;
}

/**
 * The state of a bot at the arena, across all its streams. It reads no socket, and does not call
 * the bot.
 *
 * The arena does not acknowledge answers. The session therefore keeps an answer until the next ask
 * of the match: if the arena repeats the ask, the session repeats the answer and the bot is not
 * called again.
 */
export class Session {
  /** Whether the arena is shutting down. */
  draining = false;
  readonly #hello: Hello;
  readonly #askForced: boolean;
  readonly #deals: Deals | undefined;
  readonly #post: (message: ToBotThread) => void;
  #out: Outbox | undefined;
  #welcomed = false;
  #epoch = 0;
  #limits: Limits | undefined;
  #seatCount = 0;
  /** The seat of the last answer, of which is the arena's last round trip; undefined if it was sent again. */
  #lastAnswered: Seat | undefined;
  readonly #seats = new Map<number, Seat>();
  /** Seats by the id of their last ask. The ask may be closed: the arena can repeat it. */
  readonly #seatOfAsk = new Map<bigint, Seat>();
  /** Matches whose end the arena has sent, oldest first. */
  readonly #ended = new Set<number>();

  /**
   * `post` sends messages to the bot thread. A bot that takes no part in fair deals has no `deals`.
   */
  constructor(
    hello: Hello,
    askForced: boolean,
    deals: Deals | undefined,
    post: (message: ToBotThread) => void,
  ) {
    this.#hello = hello;
    this.#askForced = askForced;
    this.#deals = deals;
    this.#post = post;
  }

  /** Starts a stream, whose first message is hello. */
  streamOpened(out: Outbox): void {
    this.#welcomed = false;
    this.#out = out;
    this.#deals?.onStream();
    out.put(create(BotMessageSchema, { body: { case: "hello", value: this.#hello } }));
  }

  /** Ends the stream. Open asks stay open until the next welcome. */
  streamLost(): void {
    this.#welcomed = false;
    this.#out = undefined;
  }

  /** The games of the matches in play, oldest first. */
  get games(): readonly string[] {
    return this.#inOrder().map((seat) => seat.game);
  }

  /** Processes a frame of the arena. */
  receive(frame: Frame, nowMs: number): Received {
    const received: Received = { warnings: [], welcomed: false, redirect: "", refused: "" };
    if ("asks" in frame) {
      this.#onAsks(received, frame.asks, nowMs);
    } else {
      this.#onMessage(received, frame.message, nowMs);
    }
    return received;
  }

  /**
   * Keeps the bot's choices and sends them. A second choice for an ask is dropped. Without a stream
   * nothing is sent: the next welcome repeats the open asks.
   */
  answer(choices: readonly ChosenMove[], answeredMs = nowMs()): void {
    const toSend: Uint8Array[] = [];
    for (const choice of choices) {
      const seat = this.#seatOfAsk.get(choice.askId);
      if (!seat || seat.answer) {
        continue;
      }
      const isNoted = seat.times.due && !choice.note;
      seat.answer = this.#encoded(isNoted ? { ...choice, note: seat.times.note() } : choice);
      if (choice.deliveredMs !== undefined) {
        seat.times.answered(choice.deliveredMs, answeredMs);
      }
      if (seat.ask?.open) {
        this.#lastAnswered = this.#welcomed ? seat : undefined;
        toSend.push(seat.answer);
      }
    }
    this.#sendAnswers(toSend);
  }

  #encoded(choice: ChosenMove): Uint8Array {
    const answer = create(AnswerSchema, { askId: choice.askId, note: this.#truncate(choice.note) });
    if ("failed" in choice) {
      answer.choice = { case: "failed", value: true };
    } else {
      answer.choice =
        "move" in choice
          ? { case: "move", value: fromBinary(GameMoveSchema, choice.move) }
          : { case: "index", value: choice.index };
    }
    return toBinary(AnswerSchema, answer);
  }

  /**
   * Truncates a note to the arena's limit, in code points. A truncated note ends in an ellipsis.
   */
  #truncate(note: string): string {
    const max = this.#limits?.maxNoteChars || DEFAULT_NOTE_CHARS;
    if (note.length <= max) {
      return note;
    }
    const chars = [...note];
    return chars.length <= max ? note : `${chars.slice(0, max - 1).join("")}…`;
  }

  #sendAnswers(answers: readonly Uint8Array[]): void {
    if (this.#welcomed) {
      this.#out?.putAnswers(answers);
    }
  }

  #onMessage(received: Received, { body }: ArenaMessage, nowMs: number): void {
    const { warnings } = received;
    switch (body.case) {
      case "welcome":
        this.#onWelcome(received, body.value, nowMs);
        break;
      case "matchStart":
        this.#onMatchStart(received, body.value);
        break;
      case "askClosed":
        this.#onAskClosed(received, body.value);
        break;
      case "matchEnd":
        this.#onMatchEnd(received, body.value);
        break;
      case "refusal": {
        const { reason, text, dealContext } = body.value;
        const deal = dealContext.length > 0 ? `deal-set ${dealName(dealContext)}: ` : "";
        const name = lowerName(RefusalReason[reason], reason);
        warnings.push(`${deal}refused (${name}): ${text}`);
        break;
      }
      case "drain":
        this.draining = true;
        warnings.push(
          `the arena shuts down in ${body.value.deadlineMs / 1000} s; running matches continue`,
        );
        break;
      case "redirect":
        received.redirect = body.value.endpoint;
        break;
      case "dealOpen":
        this.#react(received, this.#deals?.onOpen(body.value, nowMs));
        break;
      case "dealTranscript":
        this.#react(received, this.#deals?.onTranscript(body.value, nowMs));
        break;
      case "dealClose":
        this.#react(received, this.#deals?.onClose(body.value));
        break;
      default: // a message of a newer arena, unknown to this SDK
    }
  }

  #react(received: Received, reaction: Reaction | undefined): void {
    if (reaction) {
      received.warnings.push(...reaction.warnings);
      this.#out?.put(...reaction.send);
    }
  }

  #onWelcome(received: Received, welcome: Welcome, nowMs: number): void {
    received.welcomed = true;
    if (welcome.contract > CONTRACT) {
      received.refused = `the arena uses contract version ${welcome.contract}, this SDK supports version ${CONTRACT}: upgrade the SDK`;
      return;
    }
    if (welcome.epoch <= this.#epoch) {
      // The arena counts streams up. A lower number is of an arena that lost its state.
      for (const seat of this.#inOrder()) {
        this.#missed(received, seat);
      }
      this.#ended.clear();
    }
    this.#epoch = welcome.epoch;
    this.#welcomed = true;
    this.draining = false;
    this.#limits = welcome.limits;
    this.#out?.setLimits(welcome.limits);

    const listed = new Set(welcome.matches.map((start) => start.match));
    for (const seat of this.#inOrder()) {
      if (!listed.has(seat.match)) {
        this.#missed(received, seat);
      }
    }
    for (const start of welcome.matches) {
      if (!this.#ended.has(start.match)) {
        this.#onMatchStart(received, start);
      }
    }
    const stillOpen = new Set([...welcome.openAsks.map((ask) => ask.askId), ...welcome.laterAsks]);
    for (const seat of this.#seats.values()) {
      if (seat.ask && !stillOpen.has(seat.ask.askId)) {
        this.#settle(seat);
      }
    }
    this.#onAsks(received, welcome.openAsks.map(frameOf), nowMs);

    const refused = welcome.games.filter((game) => game.refusal !== GameRefusal.UNSPECIFIED);
    received.warnings.push(...refused.map((game) => `game refused: ${game.text}`));
    const all = refused.length > 0 && refused.length === welcome.games.length;
    if (all && welcome.matches.length === 0) {
      const why = refused.map((game) => game.text).join("; ");
      received.refused = `the arena refused all games of this bot: ${why}`;
    }
  }

  #onMatchStart(received: Received, message: MatchStart): void {
    const start = toBinary(MatchStartSchema, message);
    const known = this.#seats.get(message.match);
    const same = known !== undefined && Buffer.compare(known.start, start) === 0;
    if (known && !same) {
      this.#missed(received, known);
    }
    if (!same) {
      const id = ++this.#seatCount;
      const game = message.terms?.game ?? "";
      const seat: Seat = {
        ...{ id, match: message.match, game, start, ask: undefined, answer: undefined },
        times: new AskTimes(),
      };
      this.#seats.set(message.match, seat);
      this.#post({ kind: "started", seat: id, start });
    }
    this.#react(received, this.#deals?.onMatchStart(message));
  }

  #onAsks(received: Received, asks: readonly AskFrame[], receivedMs: number): void {
    const answers: Uint8Array[] = [];
    for (const ask of asks) {
      this.#react(received, this.#deals?.onAsk(ask));
      const seat = this.#seats.get(ask.match);
      if (!seat) {
        received.warnings.push(`ignored an ask of match ${ask.match}, which did not start`);
      } else if (seat.ask?.askId === ask.askId) {
        this.#reopen(seat, seat.ask);
        if (seat.answer) {
          answers.push(seat.answer);
          this.#lastAnswered = undefined; // its round trip has the time without a stream
        }
      } else if (ask.payload === undefined) {
        const note = `error: this version of the SDK does not support ${seat.game}`;
        answers.push(this.#encoded({ askId: ask.askId, failed: true, note }));
      } else {
        const tripMs = this.#lastAnswered === seat ? ask.lastRoundTripMs : 0;
        seat.times.arrived(receivedMs, tripMs);
        const answer = this.#onNewAsk(seat, ask, receivedMs);
        if (answer) {
          answers.push(answer);
          this.#lastAnswered = seat;
        }
      }
    }
    this.#sendAnswers(answers);
  }

  /** Posts the ask to the bot thread. If there is only one legal move, it returns the answer. */
  #onNewAsk(seat: Seat, frame: AskFrame, receivedMs: number): Uint8Array | undefined {
    const { askId, bytes } = frame;
    this.#settle(seat);
    this.#forgetAsk(seat);
    const answered = frame.forced && !this.#askForced;
    seat.ask = { askId, open: true };
    seat.answer = answered ? this.#encoded({ askId, index: 0, note: "" }) : undefined;
    this.#seatOfAsk.set(askId, seat);
    // Copied, because the frame shares its memory with other data from the socket.
    const ask = Uint8Array.from(bytes);
    this.#post({ kind: "ask", seat: seat.id, askId, ask, receivedMs, answered });
    return seat.answer;
  }

  /** Opens the last ask of a match again, because the arena repeated it. */
  #reopen(seat: Seat, ask: { readonly askId: bigint; open: boolean }): void {
    if (!ask.open) {
      ask.open = true;
      if (!seat.answer) {
        this.#post({ kind: "reopened", seat: seat.id, askId: ask.askId });
      }
    }
  }

  #onAskClosed(received: Received, closed: AskClosed): void {
    const seat = this.#seatOfAsk.get(closed.askId);
    if (seat) {
      this.#settle(seat);
    }
    if (closed.fault !== FaultKind.UNSPECIFIED) {
      const where = seat ? ` in match ${seat.match} (${seat.game})` : "";
      const kind = lowerName(FaultKind[closed.fault], closed.fault);
      received.warnings.push(`fault${where}: ${kind}: ${closed.reason}`);
    }
  }

  #onMatchEnd(received: Received, end: MatchEnd): void {
    const seat = this.#seats.get(end.match);
    if (!seat) {
      return;
    }
    this.#endSeat(received, seat, end);
    this.#ended.add(end.match);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_REMEMBERED_ENDS && oldest !== undefined) {
      this.#ended.delete(oldest);
    }
  }

  #missed(received: Received, seat: Seat): void {
    this.#endSeat(received, seat, create(MatchEndSchema, { match: seat.match }));
  }

  #endSeat(received: Received, seat: Seat, end: MatchEnd): void {
    this.#settle(seat);
    this.#forgetAsk(seat);
    this.#seats.delete(seat.match);
    this.#post({ kind: "ended", seat: seat.id, end: toBinary(MatchEndSchema, end) });
    this.#react(received, this.#deals?.onMatchEnd(end));
  }

  #forgetAsk(seat: Seat): void {
    if (seat.ask) {
      this.#seatOfAsk.delete(seat.ask.askId);
    }
  }

  #settle(seat: Seat): void {
    if (seat.ask?.open) {
      seat.ask.open = false;
      this.#post({ kind: "closed", seat: seat.id, askId: seat.ask.askId });
    }
  }

  #inOrder(): Seat[] {
    return [...this.#seats.values()].sort((one, other) => one.match - other.match);
  }
}

/**
 * The name of an enum's value in lower case, or the number of a value that this SDK does not know.
 */
function lowerName(name: string | undefined, value: number): string {
  return name?.toLowerCase() ?? String(value);
}
