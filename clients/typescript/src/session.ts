import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Deals, dealName, type Reaction } from "./deals.js";
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
import type { ChosenMove, ToAuthor } from "./link.js";
import type { Outbox } from "./outbox.js";

/** The version of the contract that this SDK was written for. */
export const CONTRACT = 1;
const DEFAULT_NOTE_CHARS = 200;
/** Ended matches that are remembered: an arena repeats the last 64 at most. */
const REMEMBERED_ENDS = 1024;

/** The bot's own at a match. */
interface Seat {
  /** Given once in a process, also where the arena gives a match's number again. */
  readonly id: number;
  readonly match: number;
  readonly game: string;
  /** The MatchStart, encoded. */
  readonly start: Uint8Array;
  /** The last ask, open or not, and the answer to it, encoded. */
  ask: { readonly askId: bigint; open: boolean } | undefined;
  answer: Uint8Array | undefined;
}

/** What is to be done about a frame of the arena. */
export interface Received {
  readonly say: string[];
  welcomed: boolean;
  /** Where the arena sends the bot; empty if nowhere. */
  redirect: string;
  /** Why the bot would wait in vain; empty if it would not. */
  refused: string;
}

/**
 * A bot at the arena, over all its streams. It reads no socket and never calls the author's code.
 *
 * The arena does not acknowledge answers, so an answer is kept until the match's next ask: whenever
 * the ask comes again, the same answer is said again and the author is not asked anew.
 */
export class Session {
  /** Whether the arena has said that it closes. */
  draining = false;
  readonly #hello: Hello;
  readonly #askForced: boolean;
  readonly #deals: Deals | undefined;
  readonly #tell: (one: ToAuthor) => void;
  #out: Outbox | undefined;
  #live = false;
  #epoch = 0;
  #limits: Limits | undefined;
  #seatsMade = 0;
  readonly #seats = new Map<number, Seat>();
  /** By the last ask, open or not: one that counts as settled may come again. */
  readonly #asked = new Map<bigint, Seat>();
  /** Matches whose end was told, oldest first. */
  readonly #over = new Set<number>();

  /** Of what is said on opening a stream, and what hears of matches and asks. */
  constructor(
    hello: Hello,
    askForced: boolean,
    deals: Deals | undefined,
    tell: (one: ToAuthor) => void,
  ) {
    this.#hello = hello;
    this.#askForced = askForced;
    this.#deals = deals;
    this.#tell = tell;
  }

  /** Begins a stream; its first message is hello. */
  opened(out: Outbox): void {
    this.#live = false;
    this.#out = out;
    this.#deals?.onStream();
    out.put(create(BotMessageSchema, { body: { case: "hello", value: this.#hello } }));
  }

  /** The stream is gone. What is open stays so until the next welcome. */
  lost(): void {
    this.#live = false;
    this.#out = undefined;
  }

  /** The games of the matches that go on, oldest first. */
  get seated(): readonly string[] {
    return this.#inOrder().map((seat) => seat.game);
  }

  /** Takes what the arena said. */
  receive(frame: Frame, nowMs: number): Received {
    const received: Received = { say: [], welcomed: false, redirect: "", refused: "" };
    if ("asks" in frame) {
      this.#onAsks(received, frame.asks, nowMs);
    } else {
      this.#onMessage(received, frame.message, nowMs);
    }
    return received;
  }

  /**
   * Keeps choices of the author and sends them. One for an ask that has an answer is dropped;
   * without a stream nothing is sent, as welcome will ask again.
   */
  answer(choices: readonly ChosenMove[]): void {
    const taken: Uint8Array[] = [];
    for (const choice of choices) {
      const seat = this.#asked.get(choice.askId);
      if (!seat || seat.answer) {
        continue;
      }
      seat.answer = this.#encoded(choice);
      if (seat.ask?.open) {
        taken.push(seat.answer);
      }
    }
    this.#sendAnswers(taken);
  }

  #encoded(choice: ChosenMove): Uint8Array {
    const answer = create(AnswerSchema, { askId: choice.askId, note: this.#cut(choice.note) });
    answer.choice =
      "move" in choice
        ? { case: "move", value: fromBinary(GameMoveSchema, choice.move) }
        : { case: "index", value: choice.index };
    return toBinary(AnswerSchema, answer);
  }

  /** The note, ending in an ellipsis if it had to be cut: limits count code points. */
  #cut(note: string): string {
    const most = this.#limits?.maxNoteChars || DEFAULT_NOTE_CHARS;
    if (note.length <= most) {
      return note;
    }
    const letters = [...note];
    return letters.length <= most ? note : `${letters.slice(0, most - 1).join("")}…`;
  }

  #sendAnswers(answers: readonly Uint8Array[]): void {
    if (this.#live) {
      this.#out?.putAnswers(answers);
    }
  }

  #onMessage(received: Received, { body }: ArenaMessage, nowMs: number): void {
    const { say } = received;
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
        say.push(`${deal}refused (${word(RefusalReason[reason], reason)}): ${text}`);
        break;
      }
      case "drain":
        this.draining = true;
        say.push(`the arena closes in ${body.value.deadlineMs / 1000} s; running matches go on`);
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
      default: // a newer arena says more than this SDK knows
    }
  }

  #react(received: Received, reaction: Reaction | undefined): void {
    if (reaction) {
      received.say.push(...reaction.say);
      this.#out?.put(...reaction.send);
    }
  }

  #onWelcome(received: Received, welcome: Welcome, nowMs: number): void {
    received.welcomed = true;
    if (welcome.contract > CONTRACT) {
      received.refused = `the arena speaks version ${welcome.contract} of the contract, and this SDK does not: a newer one is needed`;
      return;
    }
    if (welcome.epoch <= this.#epoch) {
      // Streams are counted up: this arena has started anew, with the same small numbers.
      for (const seat of this.#inOrder()) {
        this.#missed(received, seat);
      }
      this.#over.clear();
    }
    this.#epoch = welcome.epoch;
    this.#live = true;
    this.draining = false;
    this.#limits = welcome.limits;
    this.#out?.limit(welcome.limits);

    const listed = new Set(welcome.matches.map((start) => start.match));
    for (const seat of this.#inOrder()) {
      if (!listed.has(seat.match)) {
        this.#missed(received, seat);
      }
    }
    for (const start of welcome.matches) {
      if (!this.#over.has(start.match)) {
        this.#onMatchStart(received, start);
      }
    }
    const wanted = new Set([...welcome.openAsks.map((ask) => ask.askId), ...welcome.laterAsks]);
    for (const seat of this.#seats.values()) {
      if (seat.ask && !wanted.has(seat.ask.askId)) {
        this.#settle(seat);
      }
    }
    this.#onAsks(received, welcome.openAsks.map(frameOf), nowMs);

    const turnedAway = welcome.games.filter((game) => game.refusal !== GameRefusal.UNSPECIFIED);
    received.say.push(...turnedAway.map((game) => `not seated: ${game.text}`));
    const none = turnedAway.length > 0 && turnedAway.length === welcome.games.length;
    if (none && welcome.matches.length === 0) {
      const why = turnedAway.map((game) => game.text).join("; ");
      received.refused = `the arena seats this bot at none of its games: ${why}`;
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
      const id = ++this.#seatsMade;
      const game = message.terms?.game ?? "";
      const seat = { id, match: message.match, game, start, ask: undefined, answer: undefined };
      this.#seats.set(message.match, seat);
      this.#tell({ kind: "started", seat: id, start });
    }
    this.#react(received, this.#deals?.onMatchStart(message));
  }

  #onAsks(received: Received, asks: readonly AskFrame[], cameMs: number): void {
    const answers: Uint8Array[] = [];
    for (const ask of asks) {
      this.#react(received, this.#deals?.onAsk(ask));
      const seat = this.#seats.get(ask.match);
      if (!seat) {
        received.say.push(`asked at match ${ask.match}, which never started`);
      } else if (seat.ask?.askId === ask.askId) {
        this.#reopen(seat, seat.ask);
        if (seat.answer) {
          answers.push(seat.answer);
        }
      } else if (ask.payload === undefined) {
        const note = `error: this version of the SDK has no messages of ${seat.game}`;
        answers.push(this.#encoded({ askId: ask.askId, index: 0, note }));
      } else {
        const answer = this.#onNewAsk(seat, ask, cameMs);
        if (answer) {
          answers.push(answer);
        }
      }
    }
    this.#sendAnswers(answers);
  }

  /** Hands the ask on; or is its answer, where there is no choice. */
  #onNewAsk(seat: Seat, frame: AskFrame, cameMs: number): Uint8Array | undefined {
    const { askId, bytes } = frame;
    this.#settle(seat);
    this.#forgetAsk(seat);
    const answered = frame.forced && !this.#askForced;
    seat.ask = { askId, open: true };
    seat.answer = answered ? this.#encoded({ askId, index: 0, note: "" }) : undefined;
    this.#asked.set(askId, seat);
    // A copy: what came shares its memory with the rest of what was read from the socket.
    const ask = Uint8Array.from(bytes);
    this.#tell({ kind: "ask", seat: seat.id, askId, ask, cameMs, answered });
    return seat.answer;
  }

  /** The last ask of a match is asked again, though it may have counted as settled. */
  #reopen(seat: Seat, ask: { readonly askId: bigint; open: boolean }): void {
    if (!ask.open) {
      ask.open = true;
      if (!seat.answer) {
        this.#tell({ kind: "wanted", seat: seat.id, askId: ask.askId });
      }
    }
  }

  #onAskClosed(received: Received, closed: AskClosed): void {
    const seat = this.#asked.get(closed.askId);
    if (seat) {
      this.#settle(seat);
    }
    if (closed.fault !== FaultKind.UNSPECIFIED) {
      const where = seat ? ` in match ${seat.match} (${seat.game})` : "";
      const kind = word(FaultKind[closed.fault], closed.fault);
      received.say.push(`fault${where}: ${kind}: ${closed.reason}`);
    }
  }

  #onMatchEnd(received: Received, end: MatchEnd): void {
    const seat = this.#seats.get(end.match);
    if (!seat) {
      return;
    }
    this.#endSeat(received, seat, end);
    this.#over.add(end.match);
    const [oldest] = this.#over;
    if (this.#over.size > REMEMBERED_ENDS && oldest !== undefined) {
      this.#over.delete(oldest);
    }
  }

  #missed(received: Received, seat: Seat): void {
    this.#endSeat(received, seat, create(MatchEndSchema, { match: seat.match }));
  }

  #endSeat(received: Received, seat: Seat, end: MatchEnd): void {
    this.#settle(seat);
    this.#forgetAsk(seat);
    this.#seats.delete(seat.match);
    this.#tell({ kind: "ended", seat: seat.id, end: toBinary(MatchEndSchema, end) });
    this.#react(received, this.#deals?.onMatchEnd(end));
  }

  #forgetAsk(seat: Seat): void {
    if (seat.ask) {
      this.#asked.delete(seat.ask.askId);
    }
  }

  #settle(seat: Seat): void {
    if (seat.ask?.open) {
      seat.ask.open = false;
      this.#tell({ kind: "settled", seat: seat.id, askId: seat.ask.askId });
    }
  }

  #inOrder(): Seat[] {
    return [...this.#seats.values()].sort((one, other) => one.match - other.match);
  }
}

/** The value of an enum as a word; a newer arena may have values that this SDK does not know. */
function word(name: string | undefined, value: number): string {
  return name?.toLowerCase() ?? String(value);
}
