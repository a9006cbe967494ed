// The contract, as an author of a driver reads it. A driver depends on this package alone, and so gets what is below it from here.
export {
  ConfigError,
  isConfigError,
  orAborted,
  parseGoDuration,
  Secret,
  seededRandom,
  systemClock,
  systemRandom,
} from "@millwright/base";
export type { Clock, Random, SecretData, Timer } from "@millwright/base";
export { defineDriver } from "./driver/define-driver.ts";
export type { DriverDefinition } from "./driver/define-driver.ts";
export type { ApiCall } from "./driver/api-call.ts";
export type { CloudExchange } from "./driver/cloud-exchange.ts";
export type { Driver, DriverCapabilities, DriverContext, DriverLogLevel } from "./driver/driver.ts";
export { isMachineErrorCode } from "./driver/machine-error-code.ts";
export type { MachineErrorCode } from "./driver/machine-error-code.ts";
export { MachineError, hasMachineErrorCode, isMachineError } from "./driver/machine-error.ts";
export type { MachineErrorOptions } from "./driver/machine-error.ts";
export type {
  CheckClassRequest,
  CheckClassResponse,
  CheckStatus,
  CheckOutcome,
  ClassIdentity,
  CreateMachineRequest,
  CreateMachineResponse,
  DeleteMachineResponse,
  FindDriftResponse,
  GetNodeTemplateRequest,
  GetNodeTemplateResponse,
  GetVolumeIdsRequest,
  GetVolumeIdsResponse,
  InitializeMachineResponse,
  ListMachinesRequest,
  ListMachinesResponse,
  ListedMachine,
  MachineIdentity,
  MachineRequest,
  MachineStatusResponse,
  PendingResponse,
  VmDifference,
} from "./driver/messages.ts";
export { matchNodeByProviderId } from "./driver/node-match.ts";
export { matchNodeByTemplates } from "./driver/node-match-templates.ts";
export type { NodeIdentity, NodeMatch, VmIdentity } from "./driver/node-match.ts";
export { goObject } from "./driver/go-object.ts";
export { readProviderSpec, readSpecOfVm } from "./driver/read-provider-spec.ts";
export type { StandardSchemaV1 } from "./driver/standard-schema.ts";
export type { NodeAddress } from "./api/kinds/machine.ts";
export { userDataKey } from "./wire/secrets.ts";
