/*
 * As much of DER (ITU-T X.690) as certificates need: every function returns the bytes of one encoded value.
 */

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), content]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(0x30, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => tagged(0x31, ...items);
export const octets = (content: Uint8Array): Buffer => tagged(0x04, content);
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text, "utf8"));
export const truth = (): Buffer => tagged(0x01, Buffer.from([0xff]));
/** A context-specific tag around encoded values. */
export const explicit = (number: number, ...items: readonly Uint8Array[]): Buffer => tagged(0xa0 | number, ...items);
/** A context-specific tag in place of a primitive's own. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content);

/** A whole number that is not negative, as big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const trimmed = first < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  // A leading bit that is set would make the number negative.
  return tagged(0x02, (trimmed[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function bits(content: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), content);
}

/** An object identifier in dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part % 128];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left % 128) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** A time, as certificates want it: two-digit years until 2049. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return date.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}
