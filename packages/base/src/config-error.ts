const brand = Symbol.for("millwright.dev/ConfigError");

/**
 * A configuration error that a user has to fix: a flag, a file, a driver definition. Commands print only its message, in one
 * line and without a stack, so the message contains what is wrong, where, and what is expected.
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
