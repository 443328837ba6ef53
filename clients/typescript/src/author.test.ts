import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import type { AnyAsk, Ask, End } from "./ask.js";
import { Author } from "./author.js";
import { noted, type Player } from "./bot.js";
import { moves as abstracMoves } from "./games/abstrac.js";
import type { ChosenMove } from "./link.js";
import { Arena, Ending, jamAsk, moves } from "./messages.testing.js";

/** An author's code, joined to a session as the two threads join them. */
class Joined {
  readonly arena = new Arena();
  readonly sent: ChosenMove[] = [];
  readonly lines: string[] = [];
  /** How much was sent by when a turn began, or ended. */
  readonly turns: number[] = [];
  readonly author: Author;

  constructor(player: Omit<Player<AnyAsk>, "name">) {
    const log = (line: string) => this.lines.push(line);
    this.author = new Author(
      { name: "tried", ...player },
      {
        send: (choices) => this.sent.push(...choices),
        poll: () => this.arena.told.shift(),
        turn: {
          begin: () => this.turns.push(this.sent.length),
          end: () => this.turns.push(this.sent.length),
        },
        over: () => {},
        log: { info: log, warn: log, error: log },
      },
    );
  }

  /** Hands on what the arena's session has told. */
  async goOn(): Promise<void> {
    this.author.receive(...this.arena.told.splice(0));
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

const CHOICES: readonly (readonly [unknown, Partial<ChosenMove> | string, string])[] = [
  [2, { index: 2 }, "an index is that move"],
  [noted(1, "why"), { index: 1, note: "why" }, "a note goes with it"],
  [moves.play("3c"), { index: 1 }, "a move that is offered is its index"],
  [moves.play("Ah"), { note: "" }, "one that is not offered is said as a move"],
  [3, "RangeError: there is no move 3: 3 are offered, from 0", "an index past the list"],
  [1.5, "RangeError: there is no move 1.5", "no whole number"],
  [abstracMoves.take(1), "TypeError: a AbstracMove is no move of jam", "another game's move"],
  [undefined, "TypeError: undefined is no choice", "nothing"],
];
for (const [choice, wanted, why] of CHOICES) {
  test(`a choice: ${why}`, async () => {
    const joined = new Joined({ bot: () => ({ move: () => choice as number }) });
    joined.arena.asks(jamAsk(7));
    await joined.goOn();
    const [sent] = joined.sent;
    if (typeof wanted === "string") {
      assert.equal(sent && "index" in sent && sent.index, 0);
      assert.ok(sent?.note.startsWith(`error: ${wanted}`), sent?.note);
      assert.match(joined.lines.join("\n"), /the bot failed at ask 7 of match 1 \(jam\)/);
    } else {
      assert.deepEqual({ ...sent, ...wanted }, sent);
    }
  });
}

test("an exception is logged with the ask and where it came from, and the first move is played", async () => {
  const joined = new Joined({
    bot: () => ({
      move: () => {
        throw new Error("an error of its own");
      },
    }),
  });
  joined.arena.asks(jamAsk(7));
  await joined.goOn();
  assert.deepEqual(joined.sent, [
    { askId: 7n, index: 0, note: "error: Error: an error of its own" },
  ]);
  assert.match(joined.lines[0] ?? "", /"askId":"7".*an error of its own\n +at .*author\.test\.js/s);
});

test("a bot that cannot be made has its first moves played", async () => {
  const joined = new Joined({
    bot: () => {
      throw new Error("no bot");
    },
  });
  joined.arena.asks(jamAsk(7));
  await joined.goOn();
  assert.equal(joined.sent[0]?.note, "error: Error: no bot");
});

test("each match has a bot of its own, which is told its end", async () => {
  const ends: string[] = [];
  const joined = new Joined({
    bot: (match) => {
      let asked = 0;
      return {
        move: () => noted<Message>(0, `${match.number}: ${++asked}`),
        ended: (end: End) => ends.push(`${end.match.number} ${end.how}`),
      };
    },
  });
  joined.arena.says({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  joined.arena.asks(jamAsk(7), jamAsk(8, 2));
  joined.arena.asks(jamAsk(9));
  joined.arena.says({ case: "matchEnd", value: { match: 2, ending: Ending.COMPLETED } });
  await joined.goOn();
  const notes = joined.sent.map((one) => one.note);
  assert.deepEqual(notes, ["1: 1"], "what was settled meanwhile is not asked");
  assert.deepEqual(ends, ["2 completed"]);
});

test("events of asks that the bot never saw come with the next one", async () => {
  const given: Ask[] = [];
  const joined = new Joined({
    bot: () => ({
      move: (ask: Ask) => {
        given.push(ask);
        return 0;
      },
    }),
  });
  joined.arena.asks(jamAsk(7));
  joined.arena.asks(jamAsk(8));
  await joined.goOn();
  const [ask] = given;
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

const KEPT: readonly (readonly [string, () => number | Promise<number>])[] = [
  ["at once", () => 1],
  ["by a promise that is kept", async () => 1],
];
for (const [how, move] of KEPT) {
  test(`what bots answer ${how} is sent within one turn`, async () => {
    const joined = new Joined({ bot: () => ({ move }) });
    joined.arena.says({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
    joined.arena.asks(jamAsk(7), jamAsk(8, 2));
    await joined.goOn();
    await turn();
    assert.deepEqual(joined.turns, [0, 2]);
  });
}

test("while one bot awaits, another match goes on, and its own waits", async () => {
  const asked: bigint[] = [];
  let release = (_: number) => {};
  const joined = new Joined({
    bot: () => ({
      move: (ask: Ask) => {
        asked.push(ask.id);
        return ask.id === 7n ? new Promise<number>((resolve) => (release = resolve)) : 0;
      },
    }),
  });
  joined.arena.says({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  joined.arena.asks(jamAsk(7), jamAsk(8, 2));
  await joined.goOn();
  joined.arena.asks(jamAsk(9));
  await joined.goOn();
  assert.deepEqual(asked, [7n, 8n]);
  release(1);
  await turn();
  assert.deepEqual(asked, [7n, 8n, 9n]);
});

test("the signal of an ask is aborted when the answer is no longer wanted", async () => {
  let signal: AbortSignal | undefined;
  const joined = new Joined({
    bot: () => ({
      move: (ask: Ask) => {
        signal = ask.signal;
        return new Promise<number>((_, reject) =>
          ask.signal.addEventListener("abort", () => reject(ask.signal.reason)),
        );
      },
    }),
  });
  joined.arena.asks(jamAsk(7));
  await joined.goOn();
  joined.arena.says({ case: "askClosed", value: { askId: 7n } });
  await joined.goOn();
  assert.equal(signal?.aborted, true);
  assert.deepEqual([joined.sent, joined.lines], [[], []]);
  joined.arena.asks(jamAsk(7));
  await joined.goOn();
  assert.equal(signal?.aborted, false, "if it is wanted again, the bot is asked anew");
});

test("a batch is decided together", async () => {
  const sizes: number[] = [];
  const batch = {
    moves: (asks: readonly AnyAsk[]) => {
      sizes.push(asks.length);
      return asks.map(() => 1);
    },
  };
  const joined = new Joined({ batch });
  joined.arena.says({ case: "matchStart", value: { match: 2, terms: { game: "jam" } } });
  joined.arena.asks(jamAsk(7), jamAsk(8, 2));
  await joined.goOn();
  assert.deepEqual(sizes, [2]);
  assert.deepEqual(
    joined.sent.map((one) => "index" in one && one.index),
    [1, 1],
  );
});

test("a batch with too few moves costs them all", async () => {
  const joined = new Joined({ batch: { moves: () => [] } });
  joined.arena.asks(jamAsk(7));
  await joined.goOn();
  assert.equal(joined.sent[0]?.note, "error: Error: 0 moves were chosen for 1 asks");
});
