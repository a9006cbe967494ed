import { createPrivateKey, X509Certificate } from "node:crypto";
import { ConfigError } from "../config-error.ts";

const begin = "-----BEGIN CERTIFICATE-----";
const blocks = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** The complete certificates in a text, which may have others and keys beside them. */
export const completeCertificatesIn = (text: string): readonly string[] => text.match(blocks) ?? [];

/** Whether a text ends within a certificate. */
function isCutOff(text: string): boolean {
  const rest = text.replaceAll(blocks, "").trimEnd();
  const lastLine = rest.slice(rest.lastIndexOf("\n") + 1);
  return rest.includes(begin) || (lastLine !== "" && begin.startsWith(lastLine));
}

/**
 * The certificates in a text. One that is half written would trust fewer authorities, or none.
 *
 * @throws ConfigError where there is none, or one is cut off
 */
export function certificatesIn(text: string): readonly string[] {
  if (isCutOff(text)) throw new ConfigError("a certificate is cut off");
  const found = completeCertificatesIn(text);
  if (found.length === 0) throw new ConfigError("no certificate");
  return found;
}

/**
 * Whether a key is that of a certificate, the first one of a chain.
 *
 * @throws an error of OpenSSL where one of them cannot be read
 */
export const isPair = (cert: string | Uint8Array, key: string | Uint8Array): boolean =>
  new X509Certificate(Buffer.from(cert)).checkPrivateKey(createPrivateKey(Buffer.from(key)));
