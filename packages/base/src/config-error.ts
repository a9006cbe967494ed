const brand = Symbol.for("millwright.dev/ConfigError");

/**
 * Something that a person has to put right: a flag, a file, a driver definition. Commands show its message alone, in one
 * line and without a stack, so the message says what is wrong, where, and what is expected.
 *
 * @example
 * throw new ConfigError('kubeconfig ~/.kube/config: context "dev" does not exist; it has "prod" and "test"');
 */
export class ConfigError extends Error {
  override readonly name: string = "ConfigError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Whether a thrown value is a {@link ConfigError}, also one of another copy of this package. */
export function isConfigError(value: unknown): value is ConfigError {
  return value instanceof Error && Reflect.get(value, brand) === true;
}
