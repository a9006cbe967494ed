// What a program needs that calls drivers: versions of the contract, error codes and their texts, checks of what a driver is given.
export { isDriverFor } from "../driver/define-driver.ts";
export {
  driverContractVersion,
  negotiateContractVersion,
  supportedContractVersions,
} from "../driver/contract-version.ts";
export type { ContractVersionRange, DeclaredContractVersion } from "../driver/contract-version.ts";
export { machineErrorCodes, rejectionCodes, retryClassOf } from "../driver/machine-error-code.ts";
export type { RetryClass } from "../driver/machine-error-code.ts";
export { decodeMachineError, encodeMachineError } from "../driver/machine-error-text.ts";
export type { DecodeMachineErrorOptions, MachineErrorText } from "../driver/machine-error-text.ts";
export { providerIdKey } from "../driver/node-match.ts";
export { maxCheckAfterMs, minCheckAfterMs } from "../driver/messages.ts";
export { checkDriverSecret, checkSecretWithoutUserData } from "../driver/read-provider-spec.ts";
export type { CheckDriverSecretResult, ReadProviderSpecResult } from "../driver/read-provider-spec.ts";
export type { StandardSchemaIssue, StandardSchemaProps, StandardSchemaResult } from "../driver/standard-schema.ts";
