// Random plays every game: it picks one of the offered moves at random.
import { run } from "cardarena";

await run({
  name: "random",
  bot: () => ({ move: (ask) => Math.floor(ask.random() * ask.moves.length) }),
});
