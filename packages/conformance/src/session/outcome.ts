/** Why a check ended early. Matched by `kind`, as two copies of the package may be loaded. */
export class CheckEnd extends Error {
  override readonly name = "CheckEnd";
  /** `failed`: the driver violates the rule. `skipped`: it could not be checked. `notApplicable`: the rule does not hold here. */
  readonly kind: "failed" | "skipped" | "notApplicable";

  constructor(kind: "failed" | "skipped" | "notApplicable", message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The driver violates the rule. */
export const failed = (message: string, cause?: unknown): CheckEnd =>
  new CheckEnd("failed", message, cause === undefined ? undefined : { cause });

/** The rule could not be checked. */
export const skipped = (reason: string): CheckEnd => new CheckEnd("skipped", reason);

/** The rule does not hold for this driver or its cloud. */
export const notApplicable = (reason: string): CheckEnd => new CheckEnd("notApplicable", reason);
