/** The control plane is not available on this machine; the message has the reason in one line. The tests themselves are fine. */
export class CannotBuildError extends Error {
  readonly brand = "millwright.tools.CannotBuildError";

  constructor(why: string, options?: ErrorOptions) {
    super(`control plane: ${why.replaceAll(/\s+/g, " ").trim()}`, options);
  }
}

/** True for {@link CannotBuildError}s of any copy of this module. */
export function isCannotBuildError(value: unknown): value is CannotBuildError {
  return value instanceof Error && "brand" in value && value.brand === "millwright.tools.CannotBuildError";
}
