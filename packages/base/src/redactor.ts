import { encodedForms } from "./encoded-forms.ts";

/** Takes values out of texts. */
export interface Redactor {
  /**
   * Replaces a secret by a name, which is asked for once: in all encodings, also within other texts, each of its longer lines by itself, and cut off at either end. One of fewer than
   * eight bytes is replaced as a word.
   */
  addSecret(value: Uint8Array, name: () => string): void;
  /** Replaces a word, in any case of its letters. */
  addWord(value: string, name: () => string): void;
  redact(text: string): string;
  /** Whether a text still has a secret in it, as a whole. */
  hasSecret(text: string): boolean;
}

/** A text that stands for a secret. */
interface Form {
  readonly text: string;
  readonly name: string;
}

/** Shorter values are not secrets; replacing them would garble everything. */
const shortestWord = 4;
/** Secrets that are shorter are replaced as words only. */
const shortestSecret = 8;
const shortestLine = 16;
/** A part of a secret that is as long is replaced wherever it is; a shorter one only where the text shows that it was cut off. */
const shortestPart = 16;

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const longestFirst = (one: Form, other: Form): number => other.text.length - one.text.length;

/** The forms of a secret, as a whole and line by line. */
interface SecretForms {
  readonly whole: readonly string[];
  readonly lines: readonly string[];
}

const longEnough = (form: string): boolean => form.length >= shortestSecret;

function formsOf(value: Uint8Array): SecretForms {
  const lines = Buffer.from(value)
    .toString("utf8")
    .split("\n")
    .map((line) => line.trim());
  const secretLines = lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine);
  return {
    whole: encodedForms(value).filter(longEnough),
    lines: secretLines.flatMap((line) => encodedForms(Buffer.from(line))).filter(longEnough),
  };
}

const replaceForms = (text: string, forms: readonly Form[]): string =>
  forms.reduce((clean, form) => (clean.includes(form.text) ? clean.replaceAll(form.text, form.name) : clean), text);

/** What a text that was cut off ends, or begins, with: its end, dots, or what masks the rest. */
const cutAfter = /^(?:$|\.{2}|…|\*|\[|<|\()/;
const cutBefore = /(?:^|\.{2}|…|\*|\]|>|\))$/;
/** As much around a part as these look at. */
const context = 2;

/** Replaces the starts of a form that go on differently. */
function replaceStarts(text: string, { text: form, name }: Form): string {
  const start = form.slice(0, shortestSecret);
  let clean = "";
  let from = 0;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, from)) {
    let length = start.length;
    while (length < form.length && form[length] === text[at + length]) length++;
    const end = at + length;
    const isPart = length >= shortestPart || cutAfter.test(text.slice(end, end + context));
    clean += text.slice(from, at) + (isPart ? name : text.slice(at, end));
    from = end;
  }
  return clean + text.slice(from);
}

/** Replaces the ends of a form that begin differently. */
function replaceEnds(text: string, { text: form, name }: Form): string {
  const end = form.slice(-shortestSecret);
  let clean = "";
  let from = 0;
  for (let at = text.indexOf(end); at >= 0; at = text.indexOf(end, from)) {
    const stop = at + end.length;
    let length = end.length;
    while (length < form.length && stop - length > from && form.at(-length - 1) === text[stop - length - 1]) length++;
    const start = stop - length;
    const isPart = length >= shortestPart || cutBefore.test(text.slice(Math.max(0, start - context), start));
    clean += text.slice(from, start) + (isPart ? name : text.slice(start, stop));
    from = stop;
  }
  return clean + text.slice(from);
}

/** Creates a redactor that knows nothing yet. */
export function createRedactor(): Redactor {
  /** Invariant, here and below: the longest first, so that a value that contains another one is replaced as a whole. */
  let wholes: readonly Form[] = [];
  let lines: readonly Form[] = [];
  let words: readonly { readonly key: string; readonly pattern: RegExp; readonly name: string }[] = [];
  const known = new Set<string>();

  const merged = (forms: readonly Form[], texts: readonly string[], name: string): readonly Form[] => {
    const found = new Set(forms.map(({ text }) => text));
    const added = [...new Set(texts)].filter((text) => !found.has(text)).map((text) => ({ text, name }));
    return [...forms, ...added].toSorted(longestFirst);
  };

  const addWord = (value: string, name: () => string): void => {
    const key = value.toLowerCase();
    if (value.length < shortestWord || words.some((word) => word.key === key) || key === "true" || key === "false")
      return;
    // A percent escape may come right before it, which ends with a letter or digit.
    const before = "(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}))";
    const pattern = new RegExp(`${before}${escapeRegExp(value)}(?![A-Za-z0-9_])`, "gi");
    words = [...words, { key, pattern, name: name() }].toSorted((one, other) => other.key.length - one.key.length);
  };

  return {
    addSecret(value, name) {
      const text = Buffer.from(value).toString("utf8");
      if (known.has(text)) return;
      known.add(text);
      if (value.length < shortestSecret) return addWord(text, name);
      const forms = formsOf(value);
      const replacement = name();
      wholes = merged(wholes, forms.whole, replacement);
      lines = merged(lines, forms.lines, replacement);
    },
    addWord,
    redact(text) {
      let clean = replaceForms(text, wholes);
      // Before lines: without these, a part that was cut off is in pieces.
      for (const form of wholes) clean = replaceEnds(replaceStarts(clean, form), form);
      clean = replaceForms(clean, lines);
      for (const { pattern, name } of words) clean = clean.replaceAll(pattern, name);
      return clean;
    },
    hasSecret: (text) => [...wholes, ...lines].some((form) => text.includes(form.text)),
  };
}
