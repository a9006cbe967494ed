import type { Clock } from "@millwright/base";
import type { CreateMachineRequest, Driver, DriverContext, MachineRequest } from "@millwright/core";
import { toWireError } from "../wire/machine-error.ts";
import type { WireMethods, WireOutcome, WireRequest } from "../wire/messages.ts";
import {
  toWireChecksResponse,
  toWireDriftResponse,
  toWireListResponse,
  toWireNodeTemplateResponse,
  toWireVolumeIdsResponse,
} from "../wire/other-responses.ts";
import { createReportCollector } from "../wire/reports.ts";
import { fromWireCreation, fromWireMachine, fromWireSecret, fromWireVolumes } from "../wire/requests.ts";
import type { WireMethodName } from "../wire/service.ts";
import { toWireCreateResponse, toWireDeleteResponse, toWireStatusResponse, toWireVm } from "../wire/vm-responses.ts";
import { createMachineCalls } from "./machine-calls.ts";
import { type ClassReading, readWireClass, validateWireClass } from "./read-class.ts";

/** The call that a request is part of. */
export interface IncomingCall {
  /** Aborted when the client cancels the call or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  readonly remainingMs: () => number;
}

/** What serves the rpcs of a driver, apart from gRPC. Never rejects: a failure is the `error` of the response. */
export type Handlers = {
  readonly [Name in Exclude<WireMethodName, "Handshake" | "ValidateClass">]?: Handler<Name>;
} & { readonly ValidateClass: Handler<"ValidateClass"> };

type Handler<Name extends WireMethodName> = (
  request: WireMethods[Name][0],
  call: IncomingCall,
) => Promise<WireMethods[Name][1]>;

/** Makes the context of calls, and responses with what was reported there. */
function createResponder(clock: Clock) {
  /** One for all calls: a driver may keep the functions of the context. */
  const collector = createReportCollector();
  const contextOf = ({ options }: WireRequest, { signal, remainingMs }: IncomingCall): DriverContext => ({
    signal,
    remainingMs,
    clock,
    log: collector.log,
    reportApiCall: collector.reportApiCall,
    ...(options?.recordExchanges === true ? { recordExchange: collector.recordExchange } : {}),
  });
  return async <Response extends WireOutcome>(
    request: WireRequest,
    call: IncomingCall,
    run: (context: DriverContext) => Promise<Response>,
  ): Promise<Response | WireOutcome> => {
    let response: Response | WireOutcome;
    try {
      response = await run(contextOf(request, call));
    } catch (thrown) {
      response = { error: toWireError(thrown) };
    }
    const report = collector.take();
    return report === undefined ? response : { ...response, report };
  };
}

/** Serves a driver of this process: reads requests, calls the methods, writes responses. */
export function createHandlers(driver: Driver, clock: Clock): Handlers {
  const respond = createResponder(clock);
  const machineCalls = createMachineCalls(clock);

  /** A call about a machine. */
  const aboutMachine =
    <Reply, Response extends WireOutcome>(
      reading: ClassReading,
      changes: boolean,
      method: (request: MachineRequest<unknown>, context: DriverContext, wire: WireRequest) => Promise<Reply>,
      write: (reply: Reply) => Response,
    ) =>
    (wire: WireRequest, call: IncomingCall): Promise<Response | WireOutcome> =>
      respond(wire, call, async (context) => {
        const secret = fromWireSecret(wire.secret);
        const machine = fromWireMachine(wire.machine);
        const machineClass = await readWireClass(driver, wire.machineClass, secret, reading);
        await machineCalls.settled(machine.uid, context.signal);
        const running = method({ machine, machineClass, secret }, context, wire);
        if (changes) context.signal.addEventListener("abort", () => machineCalls.add(machine.uid, running));
        return write(await running);
      });

  /** A call about a class. */
  const aboutClass =
    <Reply, Response extends WireOutcome>(
      reading: ClassReading,
      method: (request: Omit<MachineRequest<unknown>, "machine">, context: DriverContext) => Promise<Reply>,
      write: (reply: Reply) => Response,
    ) =>
    (wire: WireRequest, call: IncomingCall): Promise<Response | WireOutcome> =>
      respond(wire, call, async (context) => {
        const secret = fromWireSecret(wire.secret);
        const machineClass = await readWireClass(driver, wire.machineClass, secret, reading);
        return write(await method({ machineClass, secret }, context));
      });

  const create = (request: MachineRequest<unknown>, context: DriverContext, wire: WireRequest) => {
    const creation: CreateMachineRequest<unknown> = { ...request, ...fromWireCreation(wire) };
    return driver.createMachine(creation, context);
  };
  const { initializeMachine, findDrift, listMachines, getNodeTemplate, checkClass } = driver;
  const validate: Handler<"ValidateClass"> = (request) => validateWireClass(driver, request);
  return {
    ValidateClass: validate,
    CreateMachine: aboutMachine("creation", true, create, toWireCreateResponse),
    DeleteMachine: aboutMachine("existingVm", true, driver.deleteMachine, toWireDeleteResponse),
    GetMachineStatus: aboutMachine("existingVm", false, driver.getMachineStatus, toWireStatusResponse),
    ...(initializeMachine && { InitializeMachine: aboutMachine("other", true, initializeMachine, toWireVm) }),
    ...(findDrift && { FindDrift: aboutMachine("other", false, findDrift, toWireDriftResponse) }),
    ...(listMachines && { ListMachines: aboutClass("other", listMachines, toWireListResponse) }),
    ...(getNodeTemplate && { GetNodeTemplate: aboutClass("other", getNodeTemplate, toWireNodeTemplateResponse) }),
    ...(checkClass && { CheckClass: aboutClass("creation", checkClass, toWireChecksResponse) }),
    ...(driver.capabilities.volumeIds && {
      GetVolumeIds: (wire: WireRequest, call: IncomingCall) =>
        respond(wire, call, async (context) =>
          toWireVolumeIdsResponse(await driver.getVolumeIds({ volumes: fromWireVolumes(wire) }, context)),
        ),
    }),
  };
}
