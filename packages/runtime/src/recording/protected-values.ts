import { encodedForms } from "./encoded-forms.ts";
import type { PlaceholderKind, Placeholders } from "./placeholders.ts";

/** Values that are replaced wherever they appear. */
export interface ProtectedValues {
  /** Protects a secret: in all encodings, also within other texts, and each of its longer lines by itself. */
  addSecret(kind: PlaceholderKind, value: string | Uint8Array): void;
  /** Protects a name or number: where it stands as a word, in any case of its letters. */
  addName(kind: PlaceholderKind, value: string): void;
  replaceIn(text: string): string;
  /** Whether a text still has a secret in it. */
  hasSecret(text: string): boolean;
}

/** Shorter values are not secrets; replacing them would garble everything. */
const shortestValue = 4;
/** Secrets that are shorter are replaced as words only. */
const shortestSecret = 8;
const shortestLine = 16;

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Creates an empty collection. */
export function createProtectedValues(placeholders: Placeholders): ProtectedValues {
  /** Invariant, here and below: the longest first, so that a value that contains another one is replaced as a whole. */
  let secrets: readonly (readonly [form: string, name: string])[] = [];
  let words: readonly { readonly key: string; readonly pattern: RegExp; readonly name: string }[] = [];
  const known = new Set<string>();

  const addWord = (kind: PlaceholderKind, value: string): void => {
    const key = value.toLowerCase();
    if (value.length < shortestValue || words.some((word) => word.key === key) || key === "true" || key === "false")
      return;
    // A percent escape may come right before it, which ends with a letter or digit.
    const before = "(?:(?<![A-Za-z0-9_])|(?<=%[0-9A-Fa-f]{2}))";
    const pattern = new RegExp(`${before}${escapeRegExp(value)}(?![A-Za-z0-9_])`, "gi");
    const name = placeholders.nameOf(kind, key);
    words = [...words, { key, pattern, name }].toSorted((one, other) => other.key.length - one.key.length);
  };

  const addWhole = (bytes: Uint8Array, name: string): void => {
    const forms = encodedForms(bytes).filter((form) => form.length >= shortestSecret);
    const found = new Set(secrets.map(([form]) => form));
    const added = forms.filter((form) => !found.has(form)).map((form) => [form, name] as const);
    secrets = [...secrets, ...added].toSorted(([a], [b]) => b.length - a.length);
  };

  return {
    addSecret(kind, value) {
      const bytes = Buffer.from(value);
      const text = bytes.toString("utf8");
      if (known.has(text)) return;
      known.add(text);
      if (bytes.length < shortestSecret) return addWord(kind, text);
      const name = placeholders.nameOf(kind, text);
      addWhole(bytes, name);
      const lines = text.split("\n").map((line) => line.trim());
      if (lines.length < 2) return;
      for (const line of lines) if (line.length >= shortestLine) addWhole(Buffer.from(line), name);
    },
    addName: addWord,
    replaceIn(text) {
      let clean = text;
      for (const [form, name] of secrets) if (clean.includes(form)) clean = clean.replaceAll(form, name);
      for (const { pattern, name } of words) clean = clean.replaceAll(pattern, name);
      return clean;
    },
    hasSecret: (text) => secrets.some(([form]) => text.includes(form)),
  };
}
