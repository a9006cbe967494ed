import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { completeCertificatesIn } from "./pem.ts";

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

const certificatesOf = (file: string): readonly string[] =>
  orNone(() => completeCertificatesIn(readFileSync(file, "utf8")).filter(isCertificate));

const filesIn = (folder: string): readonly string[] =>
  orNone(() => readdirSync(folder).map((name) => join(folder, name)));

/** The certificates of `SSL_CERT_FILE` and of all files of the folders in `SSL_CERT_DIR`. Source: Go, crypto/x509, `loadSystemRoots`. */
export function authoritiesOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { SSL_CERT_FILE: file = "", SSL_CERT_DIR: folders = "" } = env;
  const named = (text: string): boolean => text !== "";
  return [file, ...folders.split(":").filter(named).flatMap(filesIn)].filter(named).flatMap(certificatesOf);
}

/** What is trusted, and the contexts that were made of it. */
interface Store {
  /** The authorities of Node, which a program can replace. */
  readonly ofNode: readonly string[];
  readonly authorities: readonly string[];
  /** By the certificates in addition. */
  readonly contexts: Map<string, SecureContext>;
}

/** Of how many bundles the contexts are kept. */
const MAX_CONTEXTS = 8;

let known: Store | undefined;

function store(): Store {
  // The same list until the program replaces it.
  const ofNode = getCACertificates();
  if (known?.ofNode === ofNode) return known;
  const all = new Set([...ofNode, ...getCACertificates("system"), ...authoritiesOf(process.env)]);
  known = { ofNode, authorities: [...all], contexts: new Map() };
  return known;
}

/**
 * The authorities that are trusted where none are configured: those of Node with `NODE_EXTRA_CA_CERTS`, those of the system, and those of the environment as in Go. Read once, as in Go.
 */
export const systemAuthorities = (): readonly string[] => store().authorities;

/**
 * What connections are made with that trust each of {@link systemAuthorities} as an anchor, also one that another authority has signed. Made once: parsing them takes tens of milliseconds.
 *
 * @param ca certificates to trust in addition, as PEM
 */
export function systemContext(ca = ""): SecureContext {
  const { authorities, contexts } = store();
  const found = contexts.get(ca);
  if (found !== undefined) return found;
  if (contexts.size >= MAX_CONTEXTS) contexts.clear();
  const made = createSecureContext({
    ca: ca === "" ? [...authorities] : [...authorities, ca],
    allowPartialTrustChain: true,
  });
  contexts.set(ca, made);
  return made;
}
