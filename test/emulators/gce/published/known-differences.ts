/** A known difference, and why. */
export interface KnownDifference {
  readonly operation: string;
  /** Side and path, such as `request instanceResource.name`. */
  readonly at: RegExp;
  readonly reason: string;
}

/** All known differences. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    operation: "zoneOperations.wait",
    at: /^request $/,
    reason: "the SDK itself sends an empty text as body of a method that has none (google-gax, REST)",
  },
];

/** Whether a difference is known. */
export const isKnownDifference = (operation: string, at: string): boolean =>
  knownDifferences.some((known) => known.operation === operation && known.at.test(at));
