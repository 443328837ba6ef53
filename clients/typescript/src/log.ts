/** Receives the log. It is not `console`, because that writes some levels to stdout. */
export interface Logger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** Writes all levels to stderr. */
export const STDERR: Logger = {
  info: (line) => console.error(`cardarena: ${line}`),
  warn: (line) => console.error(`cardarena: ${line}`),
  error: (line) => console.error(`cardarena: ${line}`),
};
