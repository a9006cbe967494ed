import type { MachineErrorCode } from "../driver/machine-error-code.ts";

/** Error codes of a cloud that are the same code of the contract for the same reason. */
export interface ErrorCodeGroup {
  readonly code: MachineErrorCode;
  /** What the codes have in common, for the table in the README of the driver. */
  readonly why: string;
  readonly cloudCodes: readonly string[];
}

/** The code of the contract by the code of the cloud. */
export const machineCodesIn = (groups: readonly ErrorCodeGroup[]): ReadonlyMap<string, MachineErrorCode> =>
  new Map(groups.flatMap(({ code, cloudCodes }) => cloudCodes.map((cloudCode) => [cloudCode, code] as const)));
