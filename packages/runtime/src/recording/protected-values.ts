import { createRedactor } from "@millwright/base";
import type { PlaceholderKind, Placeholders } from "./placeholders.ts";

/** Values that are replaced wherever they appear. */
export interface ProtectedValues {
  /** Protects a secret; see `Redactor.addSecret`. */
  addSecret(kind: PlaceholderKind, value: string | Uint8Array): void;
  /** Protects a name or number: where it stands as a word, in any case of its letters. */
  addName(kind: PlaceholderKind, value: string): void;
  replaceIn(text: string): string;
  /** Whether a text still has a secret in it. */
  hasSecret(text: string): boolean;
}

/** Creates an empty collection. */
export function createProtectedValues(placeholders: Placeholders): ProtectedValues {
  const redactor = createRedactor();
  return {
    addSecret(kind, value) {
      const bytes = Buffer.from(value);
      redactor.addSecret(bytes, () => placeholders.nameOf(kind, bytes.toString("utf8")));
    },
    addName: (kind, value) => redactor.addWord(value, () => placeholders.nameOf(kind, value.toLowerCase())),
    replaceIn: redactor.redact,
    hasSecret: redactor.hasSecret,
  };
}
