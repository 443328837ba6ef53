import { create, toBinary } from "@bufbuild/protobuf";
import { answersFrame, askIdOf } from "./frames.js";
import {
  AnswerSchema,
  type BotMessage,
  BotMessageSchema,
  type Limits,
} from "./gen/cardarena/v1/play_pb.js";

/** The messages that wait to be sent on one stream. Answers gather until the writer is free. */
export class Outbox {
  #messages: BotMessage[] = [];
  #answers: Uint8Array[] = [];
  #limits: Limits | undefined;
  readonly #onFilled: () => void;

  /** `onFilled` is called when there is something to send. */
  constructor(onFilled: () => void) {
    this.#onFilled = onFilled;
  }

  /** Sets the arena's limits. */
  setLimits(limits: Limits | undefined): void {
    this.#limits = limits;
  }

  put(...messages: readonly BotMessage[]): void {
    this.#messages.push(...messages);
    this.#notify(messages.length);
  }

  /** Adds encoded answers. */
  putAnswers(answers: readonly Uint8Array[]): void {
    this.#answers.push(...answers);
    this.#notify(answers.length);
  }

  /** Takes the waiting messages, encoded. */
  take(): Uint8Array[] {
    const frames: Uint8Array[] = this.#messages.map((message) =>
      toBinary(BotMessageSchema, message),
    );
    frames.push(...this.#frames(this.#answers));
    this.#messages = [];
    this.#answers = [];
    return frames;
  }

  #notify(count: number): void {
    if (count > 0) {
      this.#onFilled();
    }
  }

  /** Puts answers into as few messages as the arena's limits allow. */
  #frames(answers: readonly Uint8Array[]): Uint8Array[] {
    const [first] = answers;
    if (!first) {
      return [];
    }
    const maxAnswers = this.#limits?.maxAnswers || answers.length;
    if (answers.length > maxAnswers) {
      return this.#split(answers, maxAnswers);
    }
    const frame = answersFrame(answers);
    const maxBytes = this.#limits?.maxMessageBytes || frame.length;
    if (frame.length <= maxBytes) {
      return [frame];
    }
    if (answers.length > 1) {
      return this.#split(answers, Math.floor(answers.length / 2));
    }
    const note = `error: the answer has ${frame.length} bytes, the limit is ${maxBytes}`;
    const choice = { case: "failed" as const, value: true };
    const short = create(AnswerSchema, { askId: askIdOf(first), choice, note });
    return [answersFrame([toBinary(AnswerSchema, short)])];
  }

  #split(answers: readonly Uint8Array[], at: number): Uint8Array[] {
    return [...this.#frames(answers.slice(0, at)), ...this.#frames(answers.slice(at))];
  }
}
