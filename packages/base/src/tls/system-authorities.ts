import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates } from "node:tls";

const blocks = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** The result, or nothing where a file cannot be read: as in Go, the other ones still count. */
function orNone(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

const certificatesIn = (file: string): readonly string[] =>
  orNone(() => (readFileSync(file, "utf8").match(blocks) ?? []).filter(isCertificate));

const filesIn = (folder: string): readonly string[] =>
  orNone(() => readdirSync(folder).map((name) => join(folder, name)));

/** The certificates of `SSL_CERT_FILE` and of all files of the folders in `SSL_CERT_DIR`. Source: Go, crypto/x509, `loadSystemRoots`. */
export function authoritiesOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { SSL_CERT_FILE: file = "", SSL_CERT_DIR: folders = "" } = env;
  const named = (text: string): boolean => text !== "";
  return [file, ...folders.split(":").filter(named).flatMap(filesIn)].filter(named).flatMap(certificatesIn);
}

let known: readonly string[] | undefined;

/**
 * The authorities that are trusted where none are configured: those of Node with `NODE_EXTRA_CA_CERTS`, those of the system, and those of the environment as in Go. Read once, as in Go.
 */
export const systemAuthorities = (): readonly string[] =>
  (known ??= [...new Set([...getCACertificates(), ...getCACertificates("system"), ...authoritiesOf(process.env)])]);
