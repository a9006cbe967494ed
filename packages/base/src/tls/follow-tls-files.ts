import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { ConfigError } from "../config-error.ts";
import type { LogFields } from "../log-keys.ts";

/** Files of TLS in PEM. Both sides authenticate: each checks the certificate of the other with `ca`. */
export interface TlsFiles {
  /** Certificates of the authorities that sign the certificates of the other side. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Writes a log line. */
export type TlsLog = (level: "warn", message: string, fields: LogFields) => void;

/** What new connections are made with. */
export interface TlsMaterial {
  readonly options: SecureContextOptions;
  readonly context: SecureContext;
}

/** Which files these are: the kubelet replaces a mounted Secret by a symbolic link to others. */
const stampOf = (paths: readonly string[]): string =>
  paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? "none" : `${found.dev}/${found.ino}/${found.size}/${found.mtimeMs}/${found.ctimeMs}`;
    })
    .join();

function readPem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

const blocks = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** OpenSSL skips what it cannot read: a file that is half written would trust fewer authorities, or none. */
function checkCertificates(text: string, file: string): void {
  const complete = text.match(blocks) ?? [];
  const isCutOff = text.replaceAll(blocks, "").includes("-----BEGIN");
  let certificates: readonly X509Certificate[];
  try {
    certificates = complete.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw new ConfigError(`${file}: a certificate cannot be read; expected certificates in PEM`, { cause });
  }
  if (certificates.length === 0 || isCutOff)
    throw new ConfigError(
      `${file}: ${isCutOff ? "a certificate is cut off" : "no certificate"}; expected certificates in PEM`,
    );
}

function checkPair(cert: string, key: string, files: TlsFiles): void {
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new ConfigError(`${files.key}: the key cannot be read; expected a private key in PEM without passphrase`, {
      cause,
    });
  }
  if (!isPair)
    throw new ConfigError(`the key ${files.key} does not belong to the certificate ${files.cert}; replace both`);
}

function read(files: TlsFiles): TlsMaterial {
  const [ca, cert, key] = [readPem(files.ca), readPem(files.cert), readPem(files.key)];
  checkCertificates(ca, files.ca);
  checkCertificates(cert, files.cert);
  checkPair(cert, key, files);
  // Each certificate of the file is trusted as in Go, also one that another authority has signed.
  const options: SecureContextOptions = { ca, cert, key, allowPartialTrustChain: true };
  return { options, context: createSecureContext(options) };
}

/**
 * TLS material that follows its files, which are looked at with each call: a call belongs to each new connection, of which there are few. Returns the same object while nothing
 * changed. Files that cannot be used, such as a certificate whose key is not there yet, leave the former ones in use and are reported once.
 *
 * @throws ConfigError in one line when they cannot be used at first
 */
export function followTlsFiles(files: TlsFiles, log: TlsLog): () => TlsMaterial {
  const paths = [files.ca, files.cert, files.key];
  let stamp = stampOf(paths);
  let current = read(files);
  let reported = "";
  return () => {
    const now = stampOf(paths);
    if (now === stamp) return current;
    try {
      current = read(files);
      stamp = now;
      reported = "";
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== reported)
        log("warn", "Files of TLS cannot be used; new connections use their former content", { error: message });
      reported = message;
    }
    return current;
  };
}
