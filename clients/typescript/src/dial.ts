import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { MisconfiguredError } from "./errors.js";
import type { Safety, TlsFiles } from "./link.js";

const OVER_TLS = "https://";
const PLAIN_TEXT = "http://";

const OPTIONS: ChannelOptions = {
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Twice what an arena sends at most.
  "grpc.max_receive_message_length": 4 << 20,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  // Each stream dials anew: how long to wait before, is this SDK's own to say.
  "grpc.use_local_subchannel_pool": 1,
};

/** What is asked of a connection, by flags and variables. */
export interface SafetyAsked {
  readonly address: string;
  readonly tls: boolean;
  readonly insecure: boolean;
  readonly ca: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/**
 * Reads the files that TLS needs, and looks whether the address is safe.
 *
 * @throws MisconfiguredError if it is not, or a file is not what it should be.
 */
export function safetyOf(asked: SafetyAsked): Safety {
  const safety = {
    tls: asked.tls || asked.address.startsWith(OVER_TLS) ? filesOf(asked) : undefined,
    insecure: asked.insecure,
  };
  targetOf(asked.address, safety);
  return safety;
}

/**
 * A client of the endpoint: the arena's address, or where it has sent the bot.
 *
 * @throws MisconfiguredError if the token would not be safe there.
 */
export function dial(endpoint: string, safety: Safety): Client {
  return new Client(targetOf(endpoint, safety), credentialsOf(safety.tls), OPTIONS);
}

/** What gRPC dials, if that is safe: who has a token can play as the bot. */
export function targetOf(endpoint: string, safety: Safety): string {
  if (endpoint.startsWith(OVER_TLS)) {
    if (!safety.tls) {
      throw new MisconfiguredError(
        `${endpoint} needs TLS: give the address with ${OVER_TLS}, or --tls`,
      );
    }
    return endpoint.slice(OVER_TLS.length).replace(/\/$/, "");
  }
  let target = endpoint;
  if (endpoint.startsWith(PLAIN_TEXT)) {
    if (safety.tls) {
      throw new MisconfiguredError(`${endpoint} is plain text, where TLS was asked for`);
    }
    target = endpoint.slice(PLAIN_TEXT.length).replace(/\/$/, "");
  }
  if (!safety.tls && !safety.insecure && !isLocal(target)) {
    throw new MisconfiguredError(
      `the token would go to ${target} in plain text, for all on the way to read: use ${OVER_TLS}${target}, or say --insecure`,
    );
  }
  return target;
}

/** Whether what is sent there stays on this machine. */
export function isLocal(target: string): boolean {
  if (target.startsWith("unix:")) {
    return true;
  }
  const host = isIP(target) ? target : target.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function credentialsOf(tls: TlsFiles | undefined): ChannelCredentials {
  if (!tls) {
    return credentials.createInsecure();
  }
  const pem = (text: string) => (text ? Buffer.from(text) : null);
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert));
}

function filesOf(asked: SafetyAsked): TlsFiles {
  if (!asked.clientCert !== !asked.clientKey) {
    throw new MisconfiguredError("a client's certificate and its key go together: give both");
  }
  const [ca, cert, key] = [asked.ca, asked.clientCert, asked.clientKey].map(read) as [
    string,
    string,
    string,
  ];
  if (ca) {
    try {
      new X509Certificate(ca);
    } catch {
      throw new MisconfiguredError(`${asked.ca} holds no certificates in PEM`);
    }
  }
  if (cert) {
    try {
      createSecureContext({ cert, key });
    } catch (error) {
      throw new MisconfiguredError(
        `${asked.clientCert} and ${asked.clientKey} are no certificate in PEM with its key: ${(error as Error).message}`,
      );
    }
  }
  return { ca, cert, key };
}

function read(path: string): string {
  try {
    return path ? readFileSync(path, "utf8") : "";
  } catch (error) {
    throw new MisconfiguredError(`cannot read ${path}: ${(error as Error).message}`);
  }
}
