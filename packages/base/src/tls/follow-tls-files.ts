import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { ConfigError, isConfigError } from "../config-error.ts";
import { followFiles } from "../follow-files.ts";
import type { LogFields } from "../log-keys.ts";
import { certificatesIn, isPair } from "./pem.ts";

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

/** OpenSSL skips a certificate that it cannot read. */
function parseCertificates(text: string, file: string): void {
  try {
    certificatesIn(text).map((block) => new X509Certificate(block));
  } catch (cause) {
    const problem = isConfigError(cause) ? cause.message : "a certificate cannot be read";
    throw new ConfigError(`${file}: ${problem}; expected certificates in PEM`, { cause });
  }
}

function checkPair(cert: string, key: string, files: TlsFiles): void {
  let matches: boolean;
  try {
    matches = isPair(cert, key);
  } catch (cause) {
    throw new ConfigError(`${files.key}: the key cannot be read; expected a private key in PEM without passphrase`, {
      cause,
    });
  }
  if (!matches)
    throw new ConfigError(`the key ${files.key} does not belong to the certificate ${files.cert}; replace both`);
}

/**
 * TLS material that follows its files, which are read for each new connection. Files that cannot be used, such as a certificate whose key is not there yet, leave the former ones in use and are reported once.
 *
 * @throws ConfigError in one line when they cannot be used at first
 */
export function followTlsFiles(files: TlsFiles, log: TlsLog): () => TlsMaterial {
  const make = (contents: readonly Buffer[]): TlsMaterial => {
    const [ca = "", cert = "", key = ""] = contents.map(String);
    parseCertificates(ca, files.ca);
    parseCertificates(cert, files.cert);
    checkPair(cert, key, files);
    // Each certificate of the file is trusted as in Go, also one that another authority has signed.
    const options: SecureContextOptions = { ca, cert, key, allowPartialTrustChain: true };
    return { options, context: createSecureContext(options) };
  };
  const onProblem = ({ message }: Error): void =>
    log("warn", "Files of TLS cannot be used; new connections use their former content", { error: message });
  const follow = followFiles([files.ca, files.cert, files.key], make, { onProblem });
  follow();
  return follow;
}
