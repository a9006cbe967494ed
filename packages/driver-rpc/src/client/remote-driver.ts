import {
  defineDriver,
  type Driver,
  type DriverContext,
  type DriverDefinition,
  matchNodeByProviderId,
  matchNodeByTemplates,
  type StandardSchemaV1,
} from "@millwright/core";
import { parseRecord } from "../wire/json-text.ts";
import { fromWireError } from "../wire/machine-error.ts";
import type { WireMethods, WireOutcome, WireProblem } from "../wire/messages.ts";
import {
  fromWireChecksResponse,
  fromWireDriftResponse,
  fromWireListResponse,
  fromWireNodeTemplateResponse,
  fromWireVolumeIdsResponse,
} from "../wire/other-responses.ts";
import { deliverReport } from "../wire/reports.ts";
import { fromWireSecret, type RequestParts, toWireRequest } from "../wire/requests.ts";
import type { WireMethodName } from "../wire/service.ts";
import {
  fromWireCreateResponse,
  fromWireDeleteResponse,
  fromWireStatusResponse,
  fromWireVm,
} from "../wire/vm-responses.ts";
import type { CallLimits } from "./call.ts";
import type { DriverInfo, NodeMatchRule } from "./handshake.ts";
import { remoteSecretSchema, remoteSpecSchema } from "./remote-schemas.ts";

/** The rpcs of the methods of the contract. */
type ContractMethod = Exclude<WireMethodName, "Handshake" | "ValidateClass">;

/** What a call passes to a driver that no one may see. */
export type SecretsOfCall = Pick<RequestParts, "secret" | "userData">;

/** The channel to a driver, whichever process it is. */
export interface DriverChannel {
  /** @throws MachineError for a call without a response, or the reason of the signal */
  call<Name extends WireMethodName>(
    name: Name,
    request: WireMethods[Name][0],
    limits: CallLimits,
  ): Promise<WireMethods[Name][1]>;
  /** Changes when another process may be the server. */
  generation(): number;
  /** Wall clock, milliseconds. */
  nowMs(): number;
}

/** Longest time of a call, milliseconds, unless the context limits it. */
const CALL_MS = 300_000;

/** How long the validation of a class may take, milliseconds. A reconcile waits for it. */
const VALIDATION_MS = 5_000;

function matchNodeOf(rule: NodeMatchRule): Driver["matchNode"] {
  if (rule.kind === "templates") return matchNodeByTemplates(rule.templates);
  if (rule.kind === "providerId") return undefined;
  return (vm, node) =>
    matchNodeByProviderId(vm, node) === "same" && vm.providerId === node.providerId ? "same" : "unknown";
}

/** Calls a method of the contract over the channel. */
function createCaller(channel: DriverChannel, onSecrets?: (secrets: SecretsOfCall) => void) {
  return async <Name extends ContractMethod, Reply>(
    name: Name,
    request: RequestParts,
    context: DriverContext,
    read: (response: WireMethods[Name][1]) => Reply,
  ): Promise<Reply> => {
    const deadlineMs = channel.nowMs() + (context.remainingMs?.() ?? CALL_MS);
    if (request.secret !== undefined) onSecrets?.(request);
    const wire = toWireRequest(request, context.recordExchange !== undefined);
    const response = await channel.call(name, wire, { signal: context.signal, deadlineMs });
    const { error, report }: WireOutcome = response;
    deliverReport(report, context);
    if (error !== undefined && error !== null) throw fromWireError(error);
    return read(response);
  };
}

function createValidator(channel: DriverChannel, onSecrets?: (secrets: SecretsOfCall) => void) {
  return async (request: WireMethods["ValidateClass"][0]): Promise<readonly WireProblem[] | undefined> => {
    if (request.secret !== undefined) onSecrets?.({ secret: fromWireSecret(request.secret) });
    try {
      const deadlineMs = channel.nowMs() + VALIDATION_MS;
      return (await channel.call("ValidateClass", request, { deadlineMs })).problems ?? [];
    } catch {
      return undefined;
    }
  };
}

/** The methods that only some drivers have. */
function optionalMethods(
  { capabilities }: DriverInfo,
  call: ReturnType<typeof createCaller>,
): Partial<DriverDefinition<unknown>> {
  return {
    ...(capabilities.listMachines === true && {
      listMachines: (request, context) => call("ListMachines", request, context, fromWireListResponse),
    }),
    ...(capabilities.initializeMachine === true && {
      initializeMachine: (request, context) => call("InitializeMachine", request, context, fromWireVm),
    }),
    ...(capabilities.volumeIds === true && {
      getVolumeIds: (request, context) => call("GetVolumeIds", request, context, fromWireVolumeIdsResponse),
    }),
    ...(capabilities.drift === true && {
      findDrift: (request, context) => call("FindDrift", request, context, fromWireDriftResponse),
    }),
    ...(capabilities.nodeTemplate === true && {
      getNodeTemplate: (request, context) => call("GetNodeTemplate", request, context, fromWireNodeTemplateResponse),
    }),
    ...(capabilities.classChecks === true && {
      checkClass: (request, context) => call("CheckClass", request, context, fromWireChecksResponse),
    }),
  } satisfies Partial<DriverDefinition<unknown>>;
}

const anything: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "millwright", validate: (value) => ({ value }) },
};

/**
 * The schema with the JSON Schema that the driver sends, from which the host takes the keys that the driver knows. Only until it connects again: another version of the driver may know more.
 */
function withJsonSchema(
  schema: StandardSchemaV1,
  { providerSpecSchema }: DriverInfo,
  { generation }: Pick<DriverChannel, "generation">,
): StandardSchemaV1 {
  const sentIn = generation();
  const input = (): unknown => (generation() === sentIn ? parseRecord(providerSpecSchema) : undefined);
  const props = { ...schema["~standard"], jsonSchema: { input } };
  return providerSpecSchema === "" ? schema : { "~standard": props };
}

/** The driver behind a channel, as one of this process. Its spec is providerSpec as the user wrote it. */
export function createRemoteDriver(
  info: DriverInfo,
  channel: DriverChannel,
  onSecrets?: (secrets: SecretsOfCall) => void,
): Driver {
  const call = createCaller(channel, onSecrets);
  const validate = createValidator(channel, onSecrets);
  const { classValidation, secretValidation } = info.capabilities;
  const schema = (forExistingVm: boolean) =>
    classValidation === true ? remoteSpecSchema(validate, forExistingVm, channel.generation) : anything;
  const matchNode = matchNodeOf(info.nodeMatch);
  return defineDriver<unknown>({
    name: info.name,
    spec: withJsonSchema(schema(false), info, channel),
    vmSpec: schema(true),
    ...(secretValidation === true && { secret: remoteSecretSchema(validate) }),
    ...(matchNode !== undefined && { matchNode }),
    createMachine: (request, context) => call("CreateMachine", request, context, fromWireCreateResponse),
    deleteMachine: (request, context) => call("DeleteMachine", request, context, fromWireDeleteResponse),
    getMachineStatus: (request, context) => call("GetMachineStatus", request, context, fromWireStatusResponse),
    ...optionalMethods(info, call),
  });
}
