import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { Metadata } from "@grpc/grpc-js";
import { ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "./gen/google/rpc/status_pb.js";

const KEY = "grpc-status-details-bin";
/** The maximum delay that an arena can request before the next stream. */
const MAX_RETRY_DELAY_MS = 300_000;

/** The reason and the delay that the arena gave with the end of a call. */
export function errorDetails(metadata: Metadata): { reason: string; retryDelayMs: number } {
  let reason = "";
  let retryDelayMs = 0;
  try {
    for (const value of metadata.get(KEY)) {
      for (const detail of fromBinary(StatusSchema, value as Buffer).details) {
        reason ||= anyUnpack(detail, ErrorInfoSchema)?.reason ?? "";
        const delay = anyUnpack(detail, RetryInfoSchema)?.retryDelay;
        const requestedMs = Number(delay?.seconds ?? 0) * 1000 + (delay?.nanos ?? 0) / 1e6;
        retryDelayMs = Math.min(MAX_RETRY_DELAY_MS, Math.max(retryDelayMs, requestedMs));
      }
    }
  } catch {
    // Malformed details are ignored.
  }
  return { reason, retryDelayMs };
}
