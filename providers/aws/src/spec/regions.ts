/**
 * The regions of each partition of AWS, as the SDK ships them (`partitionsInfo` of `@aws-sdk/core`, which it does not export): patterns, so that a region that is
 * newer than the SDK is known, too. A test compares them with the SDK's.
 */
export const regionPatterns: readonly RegExp[] = [
  /^(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+$/,
  /^cn-\w+-\d+$/,
  /^eusc-(de)-\w+-\d+$/,
  /^us-iso-\w+-\d+$/,
  /^us-isob-\w+-\d+$/,
  /^eu-isoe-\w+-\d+$/,
  /^us-isof-\w+-\d+$/,
  /^us-gov-\w+-\d+$/,
];

/** Whether a partition of AWS has, or may have, a region of this name. */
export const isRegion = (name: string): boolean =>
  name === name.toLowerCase() && regionPatterns.some((pattern) => pattern.test(name));
