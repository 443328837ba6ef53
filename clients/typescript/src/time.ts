/** Milliseconds of a clock that never goes back, the same in all threads of the process. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
