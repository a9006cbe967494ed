import { generateKeyPairSync, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** A key and a certificate that signs itself, as PEM. */
export interface SelfSignedCertificate {
  readonly key: string;
  readonly cert: string;
}

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
};

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const objectId = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const bitString = (bytes: Uint8Array): Buffer => der(0x03, Buffer.from([0]), bytes);
const time = (at: Date): Buffer => der(0x18, Buffer.from(at.toISOString().replaceAll(/[-:T]|\.\d+/g, ""), "ascii"));

const ecdsaWithSha256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const name = sequence(der(0x31, sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from("emulator")))));

/** An extension of a certificate: id, and value as DER. */
const extension = (id: readonly number[], value: Uint8Array): Buffer => sequence(objectId(...id), der(0x04, value));

/** A subject alternative name: an IPv4 address, or a name. */
const alternative = (host: string): Buffer =>
  isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));

/**
 * Creates a certificate for `127.0.0.1`, `localhost` and other hosts that is valid for a day (RFC 5280), for SDKs that require TLS. Each server gets a new one, so that no private key is in the
 * repository.
 */
export function selfSignedCertificate(now: Date, hosts: readonly string[] = []): SelfSignedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const dayMs = 86_400_000;
  const names = sequence(...["127.0.0.1", "localhost", ...hosts].map(alternative));
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now.getTime() - dayMs)), time(new Date(now.getTime() + dayMs))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension([0x55, 0x1d, 0x11], names), extension([0x55, 0x1d, 0x13], isAuthority))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, privateKey)));
  // No line may be empty.
  const lines = (certificate.toString("base64").match(/.{1,64}/g) ?? []).join("\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/**
 * Adds a certificate to those that this process trusts.
 *
 * @returns a function that removes it
 */
export function trustCertificate(cert: string): () => void {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, cert]);
  return () => setDefaultCACertificates(before);
}
