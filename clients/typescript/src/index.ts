/**
 * Writes bots for Card Arena.
 *
 * A bot is an object with one method, `move`. Each game has a module with a bot of its own types,
 * as `cardarena/jam`; a `Player` of this module plays every game. `run` is the whole program,
 * `play` is for programs that have more to do.
 *
 * @module
 */
export { type AnyAsk, Ask, End, Match, type Told } from "./ask.js";
export type { Bets } from "./bets.js";
export {
  type BatchBot,
  type Bot,
  type Choice,
  type MoveOf,
  Noted,
  noted,
  type Player,
} from "./bot.js";
export { LiedError, MisconfiguredError, RefusedError, UnreachableError } from "./errors.js";
export { ALL_GAMES } from "./families.js";
export { type Logger, STDERR } from "./log.js";
export { EXIT, type Options, play, run, VERSION } from "./run.js";
