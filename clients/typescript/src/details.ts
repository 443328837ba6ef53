import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import type { Metadata } from "@grpc/grpc-js";
import { ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "./gen/google/rpc/status_pb.js";

const KEY = "grpc-status-details-bin";
/** A longer time that an arena asks for is taken as this. */
const MAX_RETRY_MS = 300_000;

/** The reason that the end of a call names, and how long it asks a client to stay away. */
export function detailsOf(metadata: Metadata): { reason: string; retryMs: number } {
  let reason = "";
  let retryMs = 0;
  try {
    for (const value of metadata.get(KEY)) {
      for (const detail of fromBinary(StatusSchema, value as Buffer).details) {
        reason ||= anyUnpack(detail, ErrorInfoSchema)?.reason ?? "";
        const delay = anyUnpack(detail, RetryInfoSchema)?.retryDelay;
        const asked = Number(delay?.seconds ?? 0) * 1000 + (delay?.nanos ?? 0) / 1e6;
        retryMs = Math.min(MAX_RETRY_MS, Math.max(retryMs, asked));
      }
    }
  } catch {
    // What cannot be read says nothing.
  }
  return { reason, retryMs };
}
