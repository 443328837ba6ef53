/** What the author should know; console has these, but writes some of it to stdout. */
export interface Logger {
  info(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** Writes all of it to stderr. */
export const STDERR: Logger = {
  info: (line) => console.error(`cardarena: ${line}`),
  warn: (line) => console.error(`cardarena: ${line}`),
  error: (line) => console.error(`cardarena: ${line}`),
};
