import { ConfigError } from "@millwright/base";

/** The newest version of the driver contract, and the one that this package describes. */
export const driverContractVersion = 1;

/** The versions of the contract that one side supports, both ends included. */
export interface ContractVersionRange {
  readonly min: number;
  readonly max: number;
}

/** The versions that this host calls drivers by. */
export const supportedContractVersions: ContractVersionRange = { min: 1, max: driverContractVersion };

/** What a driver declares: the one version that it was written for, or all that it can be called by. */
export type DeclaredContractVersion = number | ContractVersionRange;

/** The versions of a declaration; undefined where it is neither a whole number from 1 nor a range of them. */
function rangeOf(declared: unknown): ContractVersionRange | undefined {
  const field = (name: string): unknown =>
    typeof declared === "object" && declared !== null ? Reflect.get(declared, name) : declared;
  const [min, max] = [field("min"), field("max")];
  const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;
  return isVersion(min) && isVersion(max) && min <= max ? { min, max } : undefined;
}

const describeRange = ({ min, max }: ContractVersionRange): string => (min === max ? `${min}` : `${min} to ${max}`);

/**
 * The version that a host calls a driver by: the newest that both support.
 *
 * @param subject the driver in messages, such as `driver "mock"`
 * @throws ConfigError in one line: which side to update, or what the declaration should be
 */
export function negotiateContractVersion(
  declared: unknown,
  subject: string,
  supported: ContractVersionRange = supportedContractVersions,
): number {
  const range = rangeOf(declared);
  if (range === undefined) {
    throw new ConfigError(
      `${subject}: "contractVersion" must be a whole number from 1, or a range such as { min: 1, max: 2 }`,
    );
  }
  const version = Math.min(range.max, supported.max);
  if (version >= Math.max(range.min, supported.min)) return version;
  const remedy = range.min > supported.max ? "update Millwright" : "update the driver";
  throw new ConfigError(
    `${subject} implements driver contract ${describeRange(range)}; this version of Millwright supports contract ${describeRange(supported)}: ${remedy}`,
  );
}
