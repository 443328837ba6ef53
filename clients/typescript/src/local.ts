import { type ExecFileException, execFile } from "node:child_process";

/** This machine has no engine. */
export class NoEngineError extends Error {
  override readonly name = "NoEngineError";
}

/** The result of a match that the engine played on this machine. */
export interface LocalMatch {
  /** completed, forfeit or aborted. */
  readonly ending: string;
  /** Points by seat, in the game's unit. */
  readonly scores: readonly number[];
  /** The faults of all seats, in the order in which they happened. */
  readonly faults: readonly {
    readonly seat: number;
    readonly kind: string;
    readonly reason: string;
  }[];
  /** The path of the match's replay. */
  readonly replay: string;
}

/**
 * Plays a match between programs of this machine, without a server: it runs `arena play` of the engine
 * as a child process.
 *
 * @param game The game's id, such as `jam`.
 * @param bots The bots' commands by seat, such as `node dist/main.js`. The engine starts them in the
 *     working directory.
 * @param flags Those of `arena play --help`, such as `"--seed", "7"`.
 * @throws NoEngineError if the engine is not installed.
 * @throws Error if the engine could not play, with what it said.
 */
export function playLocal(
  game: string,
  bots: readonly string[],
  ...flags: readonly string[]
): Promise<LocalMatch> {
  return new Promise((resolve, reject) => {
    const ended = (error: ExecFileException | null, out: string, said: string) => {
      if (error?.code === "ENOENT") {
        const what = 'the command "arena" of the engine is not in PATH';
        reject(new NoEngineError(`${what}: pip install 'cardarena-engine[server]'`));
      } else if (out) {
        resolve(JSON.parse(out)); // also if a bot failed, which the exit code tells
      } else {
        reject(new Error(`the engine could not play: ${said.trim()}`));
      }
    };
    execFile("arena", ["play", game, ...bots, "--json", ...flags], ended);
  });
}
