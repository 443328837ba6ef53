import { create, toBinary } from "@bufbuild/protobuf";
import { answersFrame, askIdOf } from "./frames.js";
import {
  AnswerSchema,
  type BotMessage,
  BotMessageSchema,
  type Limits,
} from "./gen/cardarena/v1/play_pb.js";

/** What is to be sent on one stream. Answers gather until the writer is free. */
export class Outbox {
  #messages: BotMessage[] = [];
  #answers: Uint8Array[] = [];
  #limits: Limits | undefined;
  readonly #filled: () => void;

  /** Of what is to be called when there is something to send. */
  constructor(filled: () => void) {
    this.#filled = filled;
  }

  /** Holds it to the arena's limits. */
  limit(limits: Limits | undefined): void {
    this.#limits = limits;
  }

  put(...messages: readonly BotMessage[]): void {
    this.#messages.push(...messages);
    this.#tell(messages.length);
  }

  /** Puts in answers, encoded. */
  putAnswers(answers: readonly Uint8Array[]): void {
    this.#answers.push(...answers);
    this.#tell(answers.length);
  }

  /** Takes all that is to be sent, encoded. */
  take(): Uint8Array[] {
    const frames: Uint8Array[] = this.#messages.map((message) =>
      toBinary(BotMessageSchema, message),
    );
    frames.push(...this.#frames(this.#answers));
    this.#messages = [];
    this.#answers = [];
    return frames;
  }

  #tell(count: number): void {
    if (count > 0) {
      this.#filled();
    }
  }

  /** Answers in as few messages as the arena's limits allow. */
  #frames(answers: readonly Uint8Array[]): Uint8Array[] {
    const [first] = answers;
    if (!first) {
      return [];
    }
    const mostAnswers = this.#limits?.maxAnswers || answers.length;
    if (answers.length > mostAnswers) {
      return this.#split(answers, mostAnswers);
    }
    const frame = answersFrame(answers);
    const mostBytes = this.#limits?.maxMessageBytes || frame.length;
    if (frame.length <= mostBytes) {
      return [frame];
    }
    if (answers.length > 1) {
      return this.#split(answers, Math.floor(answers.length / 2));
    }
    const note = `error: the answer has ${frame.length} bytes, the arena takes ${mostBytes}`;
    const short = create(AnswerSchema, { askId: askIdOf(first), note });
    return [answersFrame([toBinary(AnswerSchema, short)])];
  }

  #split(answers: readonly Uint8Array[], at: number): Uint8Array[] {
    return [...this.#frames(answers.slice(0, at)), ...this.#frames(answers.slice(at))];
  }
}
