import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";

/** Cloud-init unpacks what is packed; more layers than these are no user data. */
const maxLayers = 4;
/** Nothing that a cloud takes as user data becomes larger; a compressed bomb does. */
const maxBytes = 16 * 1024 * 1024;

/** Base64 in one line or in several, which the last one may end early. Shorter ones cannot hold the key of a taint, but are words and paths. */
const base64 = /[A-Za-z0-9+/]{40,}(?:\s+[A-Za-z0-9+/]{40,})*(?:\s+[A-Za-z0-9+/]+)?={0,2}/g;

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

function unzipped(bytes: Buffer): Buffer | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

/**
 * The texts in user data, as cloud-init and Ignition read them: as it is, compressed with gzip or in base64 as a whole or in parts, such as those of a multipart message and files that it writes. Empty where it is no text,
 * such as encrypted data.
 */
export function userDataTexts(bytes: Buffer, layer = 0): readonly string[] {
  if (layer > maxLayers) return [];
  if (isGzip(bytes)) {
    const content = unzipped(bytes);
    return content === undefined ? [] : userDataTexts(content, layer + 1);
  }
  if (!isUtf8(bytes) || bytes.includes(0)) return [];
  const text = bytes.toString("utf8");
  const parts = [...text.matchAll(base64)].map(([part]) => part);
  const inParts = parts
    // The last word may be what follows, such as the next key of a YAML file.
    .flatMap((part) => [...new Set([part, part.replace(/\s+\S+$/, "")])])
    .flatMap((part) => userDataTexts(Buffer.from(part, "base64"), layer + 1));
  // What is nothing but base64 is only the form of something else.
  return parts[0] === text.trim() ? inParts : [text, ...inParts];
}
