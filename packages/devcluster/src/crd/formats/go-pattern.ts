import { type BoundedRegExp, boundRegExp } from "./bounded-regexp.ts";

/** A compiled regular expression in Go's syntax (RE2), or Go's error for one that it rejects. */
export type GoPattern = { readonly regExp: BoundedRegExp } | { readonly error: string };

const known = new Map<string, GoPattern>();
/** There are few patterns, of schemas and rules, and they are used again and again. */
const knownLimit = 2000;

/**
 * Translates a pattern from RE2, Kubernetes' syntax, to a RegExp with the same meaning. Features of JavaScript alone
 * (back-references, lookaround) are rejected with Go's error, so that a pattern that works here works in a cluster. Source:
 * https://github.com/google/re2/wiki/Syntax.
 */
export function goPattern(source: string): GoPattern {
  const present = known.get(source);
  if (present !== undefined) return present;
  const result = compile(source);
  if (known.size >= knownLimit) known.clear();
  known.set(source, result);
  return result;
}

function compile(source: string): GoPattern {
  try {
    // Flags at the very start apply to the whole pattern.
    const [whole = "", flags = ""] = /^\(\?([im]+)\)/.exec(source) ?? [];
    return { regExp: boundRegExp(new RegExp(translate(source.slice(whole.length)), `u${flags}`)) };
  } catch (error) {
    if (error instanceof PatternError) return { error: `error parsing regexp: ${error.message}` };
    return { error: `error parsing regexp: ${error instanceof Error ? error.message : String(error)}` };
  }
}

class PatternError extends Error {}

function reject(why: string, part: string): never {
  throw new PatternError(`${why}: \`${part}\``);
}

/** Go's names of character classes. */
const posixClasses: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const spaces = "\\t\\n\\f\\r ";
const largestRepeat = 1000;

function translate(source: string): string {
  let out = "";
  let place = 0;
  let open = 0;
  /** The operand of a repetition: not at the start, and not another repetition. */
  let before: "nothing" | "something" | "repetition" = "nothing";
  let lastRepetition = "";

  const emit = (text: string): void => {
    out += text;
    before = "something";
  };
  const repeat = (operator: string): void => {
    const lazy = source[place + operator.length] === "?" ? "?" : "";
    const whole = operator + lazy;
    if (before === "nothing") reject("missing argument to repetition operator", operator);
    if (before === "repetition") reject("invalid nested repetition operator", lastRepetition + whole);
    out += whole;
    before = "repetition";
    lastRepetition = whole;
    place += whole.length;
  };

  while (place < source.length) {
    const character = source[place] ?? "";
    if (character === "(") {
      const { text, length } = readGroup(source, place);
      out += text;
      place += length;
      open += 1;
      before = "nothing";
    } else if (character === ")") {
      if (open === 0) reject("unexpected )", source);
      open -= 1;
      emit(")");
      place += 1;
    } else if (character === "[") {
      const { text, length } = readClass(source, place);
      emit(text);
      place += length;
    } else if (character === "\\") {
      const { text, length } = readEscape(source, place, false);
      emit(text);
      place += length;
    } else if (character === "*" || character === "+" || character === "?") {
      repeat(character);
    } else if (character === "{") {
      const count = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(place));
      if (count === null) {
        emit("\\{");
        place += 1;
      } else {
        const [operator, least = "", most = ""] = count;
        const tooMany = Number(least) > largestRepeat || Number(most) > largestRepeat;
        if (tooMany || (most !== "" && Number(most) < Number(least))) reject("invalid repeat count", operator);
        repeat(operator);
      }
    } else if (character === "|") {
      out += "|";
      before = "nothing";
      place += 1;
    } else if (character === ".") {
      emit("[^\\n]");
      place += 1;
    } else {
      const whole = String.fromCodePoint(source.codePointAt(place) ?? 0);
      emit(whole === "}" || whole === "]" ? `\\${whole}` : whole);
      place += whole.length;
    }
  }
  if (open > 0) reject("missing closing )", source);
  return out;
}

/** The opening of a group. */
function readGroup(source: string, start: number): { readonly text: string; readonly length: number } {
  if (source[start + 1] !== "?") return { text: "(", length: 1 };
  const rest = source.slice(start);
  const named = /^\(\?P?<([A-Za-z_]\w*)>/.exec(rest);
  if (named !== null) return { text: `(?<${named[1]}>`, length: named[0].length };
  const flags = /^\(\?([imsU]*)(-[imsU]+)?(:|\))/.exec(rest);
  if (flags === null) {
    const part = rest.startsWith("(?P") ? "(?P" : rest.slice(0, 3);
    return reject("invalid or unsupported Perl syntax", part);
  }
  const [whole, set = "", , end] = flags;
  // Flags for the rest of a group have no counterpart in JavaScript.
  if (end === ")") return reject("invalid or unsupported Perl syntax", whole);
  if (/[sU]/.test(set)) return reject("invalid or unsupported Perl syntax", whole);
  return { text: whole, length: whole.length };
}

function readClass(source: string, start: number): { readonly text: string; readonly length: number } {
  let place = start + 1;
  let text = "[";
  if (source[place] === "^") {
    text += "^";
    place += 1;
  }
  for (let isFirst = true; ; isFirst = false) {
    const character = source[place];
    if (character === undefined) reject("missing closing ]", source.slice(start));
    if (character === "]" && !isFirst) return { text: `${text}]`, length: place + 1 - start };
    const posix = /^\[:(\^?)(\w+):\]/.exec(source.slice(place));
    if (posix !== null) {
      const [whole, negated = "", name = ""] = posix;
      const members = posixClasses[name];
      if (members === undefined || negated !== "") reject("invalid character class range", whole);
      text += members;
      place += whole.length;
      continue;
    }
    const low = readMember(source, place);
    place += low.length;
    if (source[place] !== "-" || source[place + 1] === "]" || source[place + 1] === undefined) {
      text += low.text;
      continue;
    }
    const high = readMember(source, place + 1);
    const range = source.slice(place - low.length, place + 1 + high.length);
    if (low.code === undefined || high.code === undefined || low.code > high.code) {
      reject("invalid character class range", range);
    }
    text += `${low.text}-${high.text}`;
    place += 1 + high.length;
  }
}

interface Member {
  readonly text: string;
  readonly length: number;
  /** Undefined for escapes that stand for several characters. */
  readonly code: number | undefined;
}

function readMember(source: string, start: number): Member {
  if (source[start] === "\\") {
    const { text, length } = readEscape(source, start, true);
    const isSet = /^\\[dDwWpP]/.test(text) || text === spaces;
    return { text, length, code: isSet ? undefined : codeOfEscape(text) };
  }
  const code = source.codePointAt(start) ?? 0;
  const character = String.fromCodePoint(code);
  return {
    text: /[\\\][^\-|{}()/]/.test(character) ? `\\${character}` : character,
    length: character.length,
    code,
  };
}

function codeOfEscape(text: string): number {
  const hex = /^\\u\{([0-9a-f]+)\}$/.exec(text)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  const control = { "\\t": 9, "\\n": 10, "\\v": 11, "\\f": 12, "\\r": 13 }[text];
  return control ?? text.codePointAt(1) ?? 0;
}

function readEscape(
  source: string,
  start: number,
  isInClass: boolean,
): { readonly text: string; readonly length: number } {
  const letter = source[start + 1];
  if (letter === undefined) throw new PatternError("trailing backslash at end of expression: ``");
  const rest = source.slice(start);
  if (/[dDwW]/.test(letter) || /[tnvfr]/.test(letter)) return { text: `\\${letter}`, length: 2 };
  if (letter === "s") return { text: isInClass ? spaces : `[${spaces}]`, length: 2 };
  if (letter === "S" && !isInClass) return { text: `[^${spaces}]`, length: 2 };
  if (letter === "a") return { text: "\\u{7}", length: 2 };
  if (!isInClass) {
    if (letter === "b" || letter === "B") return { text: `\\${letter}`, length: 2 };
    if (letter === "A") return { text: "(?<![\\s\\S])", length: 2 };
    if (letter === "z") return { text: "(?![\\s\\S])", length: 2 };
    const quoted = /^\\Q([\s\S]*?)(?:\\E|$)/.exec(rest);
    if (quoted !== null) {
      const [whole, text = ""] = quoted;
      return { text: Array.from(text, literal).join(""), length: whole.length };
    }
  }
  const property = /^\\([pP])(?:([A-Z])|\{(\^?)([A-Za-z_]+)\})/.exec(rest);
  if (property !== null) {
    const [whole, kind = "p", short, negated, long] = property;
    const isNegated = (kind === "P") !== (negated === "^");
    const name = short ?? long ?? "";
    const isScript = name.length > 2;
    return { text: `\\${isNegated ? "P" : "p"}{${isScript ? `Script=${name}` : name}}`, length: whole.length };
  }
  const hex = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(rest);
  if (hex !== null)
    return { text: literal(String.fromCodePoint(Number.parseInt(hex[1] ?? hex[2] ?? "", 16))), length: hex[0].length };
  const octal = /^\\(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
  if (octal !== null)
    return { text: literal(String.fromCodePoint(Number.parseInt(octal[0].slice(1), 8))), length: octal[0].length };
  if (/[!-/:-@[-`{-~]/.test(letter)) return { text: literal(letter), length: 2 };
  return reject("invalid escape sequence", rest.slice(0, 2));
}

function literal(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
