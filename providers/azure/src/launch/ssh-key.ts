import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

let made: Promise<string> | undefined;

/**
 * A public key whose private key is discarded: Azure requires one if passwords are disabled. Created once per process, since it takes half a second, and outside of the event loop.
 */
export const throwAwayPublicKey = (): Promise<string> => (made ??= makePublicKey());

async function makePublicKey(): Promise<string> {
  const { publicKey } = await generate("rsa", { modulusLength: 4_096 });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const parts = [Buffer.from("ssh-rsa"), mpint(e), mpint(n)].flatMap((part) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    return [length, part];
  });
  return `ssh-rsa ${Buffer.concat(parts).toString("base64")}`;
}

/** A positive number as SSH writes it: with a zero byte where its first bit would mean a sign. */
function mpint(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, "base64url");
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
}
