import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import type { AnyAsk, Ask, End } from "./ask.js";
import { noted, type Player } from "./bot.js";
import { BotRunner } from "./bot_runner.js";
import { moves as abstracMoves } from "./games/abstrac.js";
import type { ChosenMove } from "./link.js";
import { Arena, Ending, jamAsk, moves } from "./messages.testing.js";

/** A bot runner and a session, connected without threads. */
class Connected {
  readonly arena = new Arena();
  readonly sent: ChosenMove[] = [];
  readonly lines: string[] = [];
  /** The number of sent choices whenever the busy flag was set or cleared. */
  readonly busyChanges: number[] = [];
  readonly runner: BotRunner;

  constructor(player: Omit<Player<AnyAsk>, "name">) {
    const log = (line: string) => this.lines.push(line);
    this.runner = new BotRunner(
      { name: "tested", ...player },
      {
        send: (choices) => this.sent.push(...choices),
        poll: () => this.arena.posted.shift(),
        busy: {
          set: () => this.busyChanges.push(this.sent.length),
          clear: () => this.busyChanges.push(this.sent.length),
        },
        playEnded: () => {},
        log: { info: log, warn: log, error: log },
      },
    );
  }

  /** Passes the session's messages to the bot runner. */
  async run(): Promise<void> {
    this.runner.receive(...this.arena.posted.splice(0));
    await nextTick();
  }
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

const CHOICES: readonly (readonly [unknown, Partial<ChosenMove> | string, string])[] = [
  [2, { index: 2 }, "an index"],
  [noted(1, "why"), { index: 1, note: "why" }, "a note"],
  [moves.play("3c"), { index: 1 }, "an offered move becomes its index"],
  [moves.play("Ah"), { note: "" }, "another move stays a move"],
  [3, "RangeError: move index 3 is out of range: 3 moves are offered", "an index past the list"],
  [1.5, "RangeError: move index 1.5 is out of range", "a fraction"],
  [abstracMoves.take(1), "TypeError: a AbstracMove is not a move of jam", "another game's move"],
  [undefined, "TypeError: undefined is not a choice", "undefined"],
];
for (const [choice, expected, why] of CHOICES) {
  test(`a choice: ${why}`, async () => {
    const connected = new Connected({ bot: () => ({ move: () => choice as number }) });
    connected.arena.asks(jamAsk(7));
    await connected.run();
    const [sent] = connected.sent;
    if (typeof expected === "string") {
      assert.ok(sent && "failed" in sent);
      assert.ok(sent?.note.startsWith(`error: ${expected}`), sent?.note);
      assert.match(connected.lines.join("\n"), /the bot failed at ask 7 of match 1 \(jam\)/);
    } else {
      assert.deepEqual({ ...sent, ...expected }, sent);
    }
  });
}

test("an exception is logged with the ask and its stack, and the bot has failed", async () => {
  const connected = new Connected({
    bot: () => ({
      move: () => {
        throw new Error("an error");
      },
    }),
  });
  connected.arena.asks(jamAsk(7));
  await connected.run();
  assert.deepEqual(connected.sent, [{ askId: 7n, failed: true, note: "error: Error: an error" }]);
  assert.match(connected.lines[0] ?? "", /"askId":"7".*an error\n +at .*bot_runner\.test\.js/s);
});

test("if making the bot fails, its asks are answered as errors", async () => {
  const connected = new Connected({
    bot: () => {
      throw new Error("no bot");
    },
  });
  connected.arena.asks(jamAsk(7));
  await connected.run();
  assert.equal(connected.sent[0]?.note, "error: Error: no bot");
});

test("each match has a bot of its own, and its `ended` is called", async () => {
  const ends: string[] = [];
  const connected = new Connected({
    bot: (match) => {
      let asked = 0;
      return {
        move: () => noted<Message>(0, `${match.number}: ${++asked}`),
        ended: (end: End) => ends.push(`${end.match.number} ${end.ending}`),
      };
    },
  });
  connected.arena.send({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  connected.arena.asks(jamAsk(7), jamAsk(8, 2));
  connected.arena.asks(jamAsk(9));
  connected.arena.send({ case: "matchEnd", value: { match: 2, ending: Ending.COMPLETED } });
  await connected.run();
  const notes = connected.sent.map((one) => one.note);
  assert.deepEqual(notes, ["1: 1"], "a closed ask is not delivered");
  assert.deepEqual(ends, ["2 completed"]);
});

test("events of undelivered asks come with the next ask", async () => {
  const delivered: Ask[] = [];
  const connected = new Connected({
    bot: () => ({
      move: (ask: Ask) => {
        delivered.push(ask);
        return 0;
      },
    }),
  });
  connected.arena.asks(jamAsk(7));
  connected.arena.asks(jamAsk(8));
  await connected.run();
  const [ask] = delivered;
  assert.equal(ask?.id, 8n);
  assert.deepEqual(
    ask?.events.map((event) => (event as unknown as { seat: number }).seat),
    [7, 8],
  );
  assert.deepEqual(
    ask?.playedFor.map((one) => one.eventsBefore),
    [1, 2],
  );
});

const ANSWERS: readonly (readonly [string, () => number | Promise<number>])[] = [
  ["at once", () => 1],
  ["by a fulfilled promise", async () => 1],
];
for (const [how, move] of ANSWERS) {
  test(`answers ${how} are sent while the busy flag is set`, async () => {
    const connected = new Connected({ bot: () => ({ move }) });
    connected.arena.send({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
    connected.arena.asks(jamAsk(7), jamAsk(8, 2));
    await connected.run();
    await nextTick();
    assert.deepEqual(connected.busyChanges, [0, 2]);
  });
}

test("while a bot's promise is pending, other matches continue and its own waits", async () => {
  const asked: bigint[] = [];
  let release = (_: number) => {};
  const connected = new Connected({
    bot: () => ({
      move: (ask: Ask) => {
        asked.push(ask.id);
        return ask.id === 7n ? new Promise<number>((resolve) => (release = resolve)) : 0;
      },
    }),
  });
  connected.arena.send({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  connected.arena.asks(jamAsk(7), jamAsk(8, 2));
  await connected.run();
  connected.arena.asks(jamAsk(9));
  await connected.run();
  assert.deepEqual(asked, [7n, 8n]);
  release(1);
  await nextTick();
  assert.deepEqual(asked, [7n, 8n, 9n]);
});

test("the signal of an ask is aborted when the ask is closed", async () => {
  let signal: AbortSignal | undefined;
  const connected = new Connected({
    bot: () => ({
      move: (ask: Ask) => {
        signal = ask.signal;
        return new Promise<number>((_, reject) =>
          ask.signal.addEventListener("abort", () => reject(ask.signal.reason)),
        );
      },
    }),
  });
  connected.arena.asks(jamAsk(7));
  await connected.run();
  connected.arena.send({ case: "askClosed", value: { askId: 7n } });
  await connected.run();
  assert.equal(signal?.aborted, true);
  assert.deepEqual([connected.sent, connected.lines], [[], []]);
  connected.arena.asks(jamAsk(7));
  await connected.run();
  assert.equal(signal?.aborted, false, "if the ask is repeated, the bot is called again");
});

test("a batch bot gets waiting asks together", async () => {
  const sizes: number[] = [];
  const batch = {
    moves: (asks: readonly AnyAsk[]) => {
      sizes.push(asks.length);
      return asks.map(() => 1);
    },
  };
  const connected = new Connected({ batch });
  connected.arena.send({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  connected.arena.asks(jamAsk(7), jamAsk(8, 2));
  await connected.run();
  assert.deepEqual(sizes, [2]);
  assert.deepEqual(
    connected.sent.map((one) => "index" in one && one.index),
    [1, 1],
  );
});

test("a batch with too few moves loses all of them", async () => {
  const connected = new Connected({ batch: { moves: () => [] } });
  connected.arena.asks(jamAsk(7));
  await connected.run();
  assert.equal(connected.sent[0]?.note, "error: Error: the bot returned 0 moves for 1 asks");
});
