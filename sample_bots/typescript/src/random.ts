// Random plays every game: it picks any of the offered moves.
import { run } from "cardarena";

await run({
  name: "random",
  bot: () => ({ move: (ask) => Math.floor(Math.random() * ask.moves.length) }),
});
