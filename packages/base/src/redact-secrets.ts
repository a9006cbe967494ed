import { encodedForms, urlForms } from "./encoded-forms.ts";
import { toPrintable } from "./printable.ts";
import { queryEscape } from "./query-escape.ts";
import { createRedactor } from "./redactor.ts";
import { secretParts } from "./secret-parts.ts";
import { redacted, type Secret, type SecretData } from "./secret.ts";

/** What of a secret must not be seen, and how to see quickly that it is not in a text: forms of a long value take milliseconds. */
interface Protected {
  readonly values: readonly Uint8Array[];
  /** Values that are too short for anchors, in lower case. */
  readonly words: readonly string[];
  /** Each text that contains a value, or starts or ends of one, contains one of these; each has `edgeLength`. */
  readonly edges: ReadonlySet<string>;
  /** Each text that contains a line of a value contains one of these; each has `lineLength`. */
  readonly lines: ReadonlySet<string>;
}

/** Secrets live as long as their objects in the API; what is derived from them no longer. */
const known = new WeakMap<Secret, Protected>();

const edgeLength = 8;
/** The length of the shortest line that is protected by itself. */
const lineLength = 16;
/** Bytes of a value that decide about the first and last characters of all of its encodings. */
const decisiveBytes = 96;

/**
 * Takes secret values out of a text that someone else wrote, such as an error message of a cloud or a schema, and replaces characters that a terminal interprets. Finds
 * values as they are and in the encodings of {@link encodedForms}, line by line, and cut off. Of a structured value, such as the key of a service account or a kubeconfig,
 * {@link secretParts} are values, too. Values of fewer than four characters stay: removing them would garble the text and guard nothing.
 */
export function redactSecrets(text: string, secrets: SecretData): string {
  const redactor = createRedactor();
  for (const secret of Object.values(secrets)) {
    const parts = protectedOf(secret);
    if (mayContain(text, parts)) for (const value of parts.values) redactor.addSecret(value, () => redacted);
  }
  return toPrintable(redactor.redact(text));
}

function protectedOf(secret: Secret): Protected {
  const present = known.get(secret);
  if (present !== undefined) return present;
  const values = [secret.revealBytes(), ...secretParts(secret.reveal()).map((part) => Buffer.from(part))];
  const long = values.filter((value) => value.length >= edgeLength).map((value) => Buffer.from(value));
  const made = {
    values,
    words: values.filter((value) => value.length < edgeLength).map((value) => textOf(value).toLowerCase()),
    edges: new Set(long.flatMap(edgesOf)),
    lines: new Set(long.flatMap((value) => linesOf(textOf(value)).flatMap(startsOfLine))),
  };
  known.set(secret, made);
  return made;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8");

function mayContain(text: string, { words, edges, lines }: Protected): boolean {
  if (words.length > 0) {
    const lower = text.toLowerCase();
    if (words.some((word) => word !== "" && lower.includes(word))) return true;
  }
  return containsAny(text, edges, edgeLength) || containsAny(text, lines, lineLength);
}

/** Whether a text contains one of several texts of one length. */
function containsAny(text: string, anchors: ReadonlySet<string>, length: number): boolean {
  if (anchors.size === 0) return false;
  for (let at = 0; at + length <= text.length; at++) if (anchors.has(text.slice(at, at + length))) return true;
  return false;
}

/** The first and last characters of all forms of a value. */
function edgesOf(value: Buffer): readonly string[] {
  const starts = encodedForms(startOf(value)).map((form) => form.slice(0, edgeLength));
  const ends = encodedForms(endOf(value)).map((form) => form.slice(-edgeLength));
  return [...starts, ...ends];
}

/** Whether a byte continues a character of UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The decisive bytes at the start, without half a character. */
function startOf(value: Buffer): Buffer {
  let end = Math.min(value.length, decisiveBytes);
  while (end > decisiveBytes / 2 && isContinuation(value[end])) end--;
  return value.subarray(0, end);
}

/** The decisive bytes at the end, without half a character, from where a group of base64 begins. */
function endOf(value: Buffer): Buffer {
  let start = Math.max(0, value.length - decisiveBytes);
  while (start > 0 && (start % 3 !== 0 || isContinuation(value[start]))) start--;
  return value.subarray(start);
}

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineLength);

/** The first characters of a line: as it is, in JSON, in a URL, in base64. Fewer forms than for a whole value: there are many lines. */
function startsOfLine(line: string): readonly string[] {
  const start = line.slice(0, lineLength).toWellFormed();
  const base64 = Buffer.from(start).toString("base64");
  const forms = /^[\w.-]*$/.test(start)
    ? [start, base64]
    : [start, base64, JSON.stringify(start).slice(1), ...urlForms(start), queryEscape(start)];
  return forms.map((form) => form.slice(0, lineLength));
}
