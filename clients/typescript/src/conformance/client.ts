/** The client of the conformance kit. clients/conformance/README.md describes its fixed bot. */
import { setTimeout as wait } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";
import { type Ask, type Bot, type Choice, type End, type Match, noted, run } from "../index.js";

const PAD = "\u{1F0A1}";

class FixedBot implements Bot {
  #asked = 0;

  async move(ask: Ask): Promise<Choice<Message>> {
    this.#asked += 1;
    if (sleepMs > 0) {
      await wait(sleepMs);
    }
    if (ask.id % 1000n === 999n) {
      throw new Error("the fixed bot's mistake");
    }
    const note =
      ask.id % 1000n === 998n
        ? Buffer.from(ask.seed.subarray(0, 4)).toString("hex")
        : `${this.#asked}${PAD.repeat(Number(ask.id / 1000n))}`;
    return noted(Number(ask.id % BigInt(ask.moves.length)), note);
  }

  ended(end: End): void {
    console.log(`ended ${end.match.number} ${end.ending}`);
  }
}

const at = process.argv.indexOf("--sleep-ms");
const sleepMs = at < 0 ? 0 : Number(process.argv.splice(at, 2)[1]);

await run({
  name: "fixed",
  version: "kit",
  askForced: true,
  bot: (match: Match) => {
    console.log(`started ${match.number}`);
    return new FixedBot();
  },
});
