import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, type ChannelOptions, Client, credentials } from "@grpc/grpc-js";
import { MisconfiguredError } from "./errors.js";
import type { Security, TlsFiles } from "./link.js";

const TLS_SCHEME = "https://";
const PLAIN_TEXT_SCHEME = "http://";

const OPTIONS: ChannelOptions = {
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Twice the size of an arena's largest message.
  "grpc.max_receive_message_length": 4 << 20,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  // Each stream has a connection of its own, so that this SDK and not gRPC decides on delays.
  "grpc.use_local_subchannel_pool": 1,
};

/** The options of a connection. */
export interface SecurityOptions {
  readonly address: string;
  readonly tls: boolean;
  readonly insecure: boolean;
  readonly ca: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/**
 * Reads the files that TLS needs, and checks the address.
 *
 * @throws MisconfiguredError if the address or a file is wrong.
 */
export function securityOf(options: SecurityOptions): Security {
  const security = {
    tls: options.tls || options.address.startsWith(TLS_SCHEME) ? filesOf(options) : undefined,
    insecure: options.insecure,
  };
  targetOf(options.address, security);
  return security;
}

/**
 * A client of the arena's address or of that of a redirect.
 *
 * @throws MisconfiguredError if the token would be sent unprotected.
 */
export function dial(endpoint: string, security: Security): Client {
  const target = targetOf(endpoint, security);
  return new Client(target, credentialsOf(security.tls), optionsFor(target));
}

/** The options of a connection. No proxy of the environment is asked for an address of this machine. */
export function optionsFor(target: string): ChannelOptions {
  return isLocal(target) ? { ...OPTIONS, "grpc.enable_http_proxy": 0 } : OPTIONS;
}

/**
 * The gRPC target of an endpoint. A token is sent in plain text only within this machine, unless
 * the author allows more: anyone who reads a token can play as the bot.
 *
 * @throws MisconfiguredError if the token would be sent unprotected, or the endpoint needs TLS.
 */
export function targetOf(endpoint: string, security: Security): string {
  if (endpoint.startsWith(TLS_SCHEME)) {
    if (!security.tls) {
      throw new MisconfiguredError(
        `${endpoint} needs TLS: start the address with ${TLS_SCHEME}, or add --tls`,
      );
    }
    return endpoint.slice(TLS_SCHEME.length).replace(/\/$/, "");
  }
  let target = endpoint;
  if (endpoint.startsWith(PLAIN_TEXT_SCHEME)) {
    if (security.tls) {
      throw new MisconfiguredError(`${endpoint} is a plain-text address, but TLS is required`);
    }
    target = endpoint.slice(PLAIN_TEXT_SCHEME.length).replace(/\/$/, "");
  }
  if (!security.tls && !security.insecure && !isLocal(target)) {
    throw new MisconfiguredError(
      `the token would be sent to ${target} in plain text: use ${TLS_SCHEME}${target}, or allow it with --insecure`,
    );
  }
  return target;
}

/** Whether the address is on this machine. */
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

function filesOf(options: SecurityOptions): TlsFiles {
  if (!options.clientCert !== !options.clientKey) {
    throw new MisconfiguredError(
      "a client certificate needs its key: give both --client-cert and --client-key",
    );
  }
  const [ca, cert, key] = [options.ca, options.clientCert, options.clientKey].map(read) as [
    string,
    string,
    string,
  ];
  if (ca) {
    try {
      new X509Certificate(ca);
    } catch {
      throw new MisconfiguredError(`${options.ca} contains no PEM certificates`);
    }
  }
  if (cert) {
    try {
      createSecureContext({ cert, key });
    } catch (error) {
      throw new MisconfiguredError(
        `${options.clientCert} and ${options.clientKey} are not a PEM certificate with its key: ${(error as Error).message}`,
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
