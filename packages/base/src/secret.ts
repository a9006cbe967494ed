const brand = Symbol.for("millwright.dev/Secret");
const inspectMethod = Symbol.for("nodejs.util.inspect.custom");

/** What every printed form of a {@link Secret} reads. */
export const redacted = "[redacted]";

/**
 * A value that must not be seen: a credential, or user data that carries a bootstrap token.
 *
 * Every way of printing it gives `[redacted]`: template strings, `JSON.stringify`, `console.log` and `util.inspect` (also
 * with hidden properties), error messages and causes. `structuredClone` and worker messages give an empty object. Only
 * {@link Secret.reveal} and {@link Secret.revealBytes} give the value: call them in the argument of the function that needs the
 * value, and do not store what they return.
 */
export class Secret {
  // A true private field: unlike a `private` property it is invisible to inspection, spread and clones.
  readonly #bytes: Uint8Array;

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    Object.defineProperty(this, brand, { value: true });
    Object.freeze(this);
  }

  /** Wraps a text, kept as UTF-8, or bytes, kept as they are. The bytes are copied. */
  static of(value: string | Uint8Array): Secret {
    return new Secret(typeof value === "string" ? new TextEncoder().encode(value) : Uint8Array.from(value));
  }

  /** The value as text. Bytes that are not UTF-8 become U+FFFD: use {@link Secret.revealBytes} for binary values. */
  reveal(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#bytes);
  }

  /** The value as bytes, in a copy that the caller may overwrite. */
  revealBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  /** Whether both hold the same bytes, in a time that depends on the lengths alone. */
  equals(other: Secret): boolean {
    const theirs = other.revealBytes();
    let difference = this.#bytes.length ^ theirs.length;
    for (const [index, byte] of this.#bytes.entries()) difference |= byte ^ (theirs[index] ?? 0);
    return difference === 0;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.toPrimitive](): string {
    return redacted;
  }

  [inspectMethod](): string {
    return redacted;
  }
}

/** The data of a class secret: every value wrapped. Keys are not secret. */
export type SecretData = Readonly<Record<string, Secret>>;

/** Whether a value is a {@link Secret}, also one of another copy of this package. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && Reflect.get(value, brand) === true;
}
