import { inspect } from "node:util";
import { redactSecrets, Secret, type SecretData } from "@millwright/base";

/** Finds values of secrets in what a driver prints. */
export interface SecretScan {
  /** Adds values whose appearance counts from now on. */
  protect(secret: SecretData): void;
  /** Keys of the values that a text or a value contains, in plain or encoded form. */
  find(value: unknown): readonly string[];
}

/** Values that are too short would be found in words. */
const shortestBytes = 8;

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : inspect(value, { depth: 6, maxStringLength: 100_000, maxArrayLength: 1_000 });

/**
 * Creates a scan for values of secrets.
 *
 * @param publicKeys keys whose values may be printed, such as an address
 */
export function createSecretScan(publicKeys: readonly string[] = []): SecretScan {
  const guarded = new Map<string, Map<string, Secret>>();
  return {
    protect(secret) {
      for (const [key, value] of Object.entries(secret)) {
        if (publicKeys.includes(key) || value.revealBytes().length < shortestBytes) continue;
        const values = guarded.get(key) ?? new Map<string, Secret>();
        // Equal secrets are one: the redactor derives the forms of each object once.
        if (!values.has(value.reveal())) values.set(value.reveal(), value);
        guarded.set(key, values);
      }
    },
    find(value) {
      const text = textOf(value);
      const plain = redactSecrets(text, {});
      return [...guarded].flatMap(([key, values]) =>
        [...values.values()].some((secret) => redactSecrets(text, { [key]: secret }) !== plain) ? [key] : [],
      );
    },
  };
}
