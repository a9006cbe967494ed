/**
 * Navigates unparsed JSON, as bytes of UTF-8, so that unneeded parts are not parsed.
 *
 * Checks no more than it needs: of what it passes over only the brackets and the strings are looked at. Nothing here throws or reads beyond
 * the end; text that is no JSON gives undefined, or a place whose text does not parse.
 */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A stretch of bytes, without its end. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** One member of an object, from its key to the end of its value. */
interface Member extends TextRange {
  /** Where the value begins. */
  readonly value: number;
  /** Where the comma before it is, if it is not the first one. */
  readonly commaBefore: number | undefined;
}

/**
 * The member at the end of a path of keys, together with one of the commas beside it: what is left without it is JSON again.
 * Goes by the first member of each name; keys spelt with escapes are not found.
 *
 * @param within the value to look into. Default: all of the text
 */
export function findMember(
  text: Uint8Array,
  path: readonly string[],
  within: TextRange = { from: 0, to: text.length },
): TextRange | undefined {
  let at = skipSpace(text, within.from);
  for (const [depth, key] of path.entries()) {
    const member = memberOf(text, at, within.to, key);
    if (member === undefined) return undefined;
    if (depth < path.length - 1) {
      at = member.value;
      continue;
    }
    if (member.commaBefore !== undefined) return { from: member.commaBefore, to: member.to };
    const next = skipSpace(text, member.to);
    return { from: member.from, to: text[next] === comma ? next + 1 : member.to };
  }
  return undefined;
}

/** Where the value of a member of the outermost object begins. */
export function findValue(text: Uint8Array, key: string): number | undefined {
  return seekMember(text, skipSpace(text, 0), text.length, key)?.value;
}

/**
 * The elements of the list that begins at a place, found as they are asked for.
 *
 * @returns where the list ends; undefined when it is no list, or not well formed
 */
export function* elementsOf(text: Uint8Array, from: number): Generator<TextRange, number | undefined> {
  if (text[from] !== openBracket) return undefined;
  let at = skipSpace(text, from + 1);
  if (text[at] === closeBracket) return at + 1;
  for (;;) {
    const to = endOfValue(text, at, text.length);
    if (to <= at || to >= text.length) return undefined;
    yield { from: at, to };
    const next = skipSpace(text, to);
    if (text[next] === closeBracket) return next + 1;
    if (text[next] !== comma) return undefined;
    at = skipSpace(text, next + 1);
  }
}

function memberOf(text: Uint8Array, open: number, end: number, key: string): Member | undefined {
  const found = seekMember(text, open, end, key);
  if (found === undefined) return undefined;
  const to = endOfValue(text, found.value, end);
  return to <= found.value ? undefined : { ...found, to };
}

/** A member whose value is not looked at, so that its end is unknown. */
function seekMember(text: Uint8Array, open: number, end: number, key: string): Omit<Member, "to"> | undefined {
  if (text[open] !== openBrace) return undefined;
  let commaBefore: number | undefined;
  let at = skipSpace(text, open + 1);
  while (at < end && text[at] === quote) {
    const from = at;
    const keyEnd = endOfString(text, from, end);
    const separator = skipSpace(text, keyEnd);
    if (text[separator] !== colon) return undefined;
    const value = skipSpace(text, separator + 1);
    if (isKey(text, from, keyEnd, key)) return { from, value, commaBefore };
    const to = endOfValue(text, value, end);
    if (to <= value) return undefined;
    const next = skipSpace(text, to);
    if (text[next] !== comma) return undefined;
    commaBefore = next;
    at = skipSpace(text, next + 1);
  }
  return undefined;
}

/** Whether a string with its quotes is this key. Keys that are asked for are ASCII without escapes. */
function isKey(text: Uint8Array, from: number, to: number, key: string): boolean {
  if (to - from !== key.length + 2) return false;
  for (let i = 0; i < key.length; i++) if (text[from + 1 + i] !== key.charCodeAt(i)) return false;
  return true;
}

function skipSpace(text: Uint8Array, from: number): number {
  let at = from;
  for (let byte = text[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = text[++at]);
  return at;
}

/** After the closing quote of the string that begins here; `end` when there is none. */
function endOfString(text: Uint8Array, from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    const byte = text[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at++;
  }
  return end;
}

/** After the value that begins here; `end` when it does not end before. */
function endOfValue(text: Uint8Array, from: number, end: number): number {
  const first = text[from];
  if (first === quote) return endOfString(text, from, end);
  if (first !== openBrace && first !== openBracket) return endOfScalar(text, from, end);
  let depth = 0;
  for (let at = from; at < end; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at, end) - 1;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at + 1;
  }
  return end;
}

function endOfScalar(text: Uint8Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = text[at];
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte === 0x20 || byte === 0x0a) return at;
  }
  return end;
}
