import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A certificate that signs itself, and its key, as PEM text. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for 127.0.0.1 that is its own authority, for tests with TLS. */
export function makeCertificate(commonName: string): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const ed25519 = sequence(oid(0x2b, 0x65, 0x70));
  const name = sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from(commonName)))));
  const time = (text: string) => tlv(0x17, Buffer.from(text));
  const extensions = sequence(
    sequence(oid(0x55, 0x1d, 0x11), tlv(0x04, sequence(tlv(0x87, Buffer.of(127, 0, 0, 1))))),
    sequence(oid(0x55, 0x1d, 0x13), tlv(0x04, sequence(tlv(0x01, Buffer.of(0xff))))),
  );
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, Buffer.concat([Buffer.of(1), randomBytes(7)])),
    ed25519,
    name,
    sequence(time("200101000000Z"), time("491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, extensions),
  );
  const signature = tlv(0x03, Buffer.concat([Buffer.of(0), sign(null, body, privateKey)]));
  const lines =
    sequence(body, ed25519, signature)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return {
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** One element of DER: tag, length, value. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), value]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function oid(...bytes: number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes));
}
