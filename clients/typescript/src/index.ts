/**
 * SDK for bots of Card Arena.
 *
 * A bot is an object with one method, `move`. Each game has a module with a bot of its types, such
 * as `cardarena/jam`. A `Player` of this module can play every game. `run` is a complete program;
 * `play` is for programs that do more.
 *
 * @module
 */
export type { AnyAsk, Ask, End, Match } from "./ask.js";
export type { Bets } from "./bets.js";
export {
  type BatchBot,
  type Bot,
  type Choice,
  chosen,
  type MoveOf,
  Noted,
  noted,
  type Player,
} from "./bot.js";
export { LiedError, MisconfiguredError, RefusedError, UnreachableError } from "./errors.js";
export { ALL_GAMES } from "./families.js";
export { type LocalMatch, NoEngineError, playLocal } from "./local.js";
export { type Logger, STDERR } from "./log.js";
export { EXIT, type Options, play, run, VERSION } from "./run.js";
