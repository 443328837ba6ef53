/** Milliseconds of a monotonic clock. All threads of the process have the same clock. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
