import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { bits, explicit, implicit, integer, octets, oid, sequence, set, time, truth, utf8 } from "./der.ts";

/** A certificate and its key, in PEM. */
export interface IssuedCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** What a server's certificate is for. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
}

/** A certificate authority whose key lives in this process only. */
export interface CertificateAuthority {
  readonly certificatePem: string;
  issue(request: CertificateRequest): IssuedCertificate;
}

const dayMs = 86_400_000;
const lifetimeMs = 3650 * dayMs;
/** Certificates are valid from a day ago on, for peers whose clocks are off. */
const backdateMs = dayMs;

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
const commonNameOid = "2.5.4.3";

/** Makes a certificate authority with an ECDSA key on P-256, valid for ten years. */
export function createCertificateAuthority(now: Date): CertificateAuthority {
  const issuer = "millwright-devcluster";
  const key = newKey();
  const constraints = [
    extension("2.5.29.19", sequence(truth()), true),
    // keyCertSign and cRLSign.
    extension("2.5.29.15", bits(Buffer.from([0x06]), 1), true),
  ];
  return {
    certificatePem: certificate({ subject: issuer, publicKey: key.publicKey, extensions: constraints }),
    issue({ commonName, dnsNames, addresses }) {
      const own = newKey();
      const names = [
        ...dnsNames.map((name) => implicit(2, Buffer.from(name, "ascii"))),
        ...addresses.map((address) => implicit(7, addressBytes(address))),
      ];
      const extensions = [
        extension("2.5.29.19", sequence(), true),
        // digitalSignature.
        extension("2.5.29.15", bits(Buffer.from([0x80]), 7), true),
        extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))),
        extension("2.5.29.17", sequence(...names)),
      ];
      return {
        certificatePem: certificate({ subject: commonName, publicKey: own.publicKey, extensions }),
        keyPem: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };

  function certificate(content: {
    readonly subject: string;
    readonly publicKey: KeyObject;
    readonly extensions: readonly Buffer[];
  }): string {
    const spki = content.publicKey.export({ type: "spki", format: "der" });
    const toBeSigned = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ecdsaWithSha256,
      nameOf(issuer),
      sequence(time(new Date(now.getTime() - backdateMs)), time(new Date(now.getTime() + lifetimeMs))),
      nameOf(content.subject),
      spki,
      explicit(
        3,
        sequence(
          ...content.extensions,
          extension("2.5.29.14", octets(keyId(spki))),
          extension("2.5.29.35", sequence(implicit(0, keyId(key.publicKey.export({ type: "spki", format: "der" }))))),
        ),
      ),
    );
    const signature = sign("sha256", toBeSigned, key.privateKey);
    const der = sequence(toBeSigned, ecdsaWithSha256, bits(signature));
    const lines = der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  }
}

function newKey(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(oid(commonNameOid), utf8(commonName))));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return isCritical ? sequence(oid(id), truth(), octets(value)) : sequence(oid(id), octets(value));
}

function keyId(spki: Uint8Array): Buffer {
  return createHash("sha256").update(spki).digest().subarray(0, 20);
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // Only the loopback address of IPv6 is ever asked for.
  return Buffer.from([...Array.from({ length: 15 }, () => 0), 1]);
}
