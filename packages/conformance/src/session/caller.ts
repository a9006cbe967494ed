import { Secret, type SecretData } from "@millwright/base";
import {
  type CheckClassResponse,
  type ClassIdentity,
  type CreateMachineResponse,
  type DeleteMachineResponse,
  type Driver,
  type DriverContext,
  type FindDriftResponse,
  type GetNodeTemplateResponse,
  type GetVolumeIdsResponse,
  type InitializeMachineResponse,
  type ListedMachine,
  type ListMachinesResponse,
  type MachineIdentity,
  type MachineStatusResponse,
  type PendingResponse,
  readProviderSpec,
  readSpecOfVm,
} from "@millwright/core";
import { maxCheckAfterMs } from "@millwright/core/driver-host";
import { formatProblems } from "@millwright/core/machine-api";
import { type CallHost, type CallOptions, runCall } from "./call-runner.ts";
import type { ProviderClass } from "./fixture.ts";
import { failed, notApplicable } from "./outcome.ts";

/** A driver, and what its calls are about. */
export interface CallTarget {
  readonly driver: Driver;
  readonly machineClass: ProviderClass;
  readonly secret: SecretData;
}

/** How a VM is created. */
export interface CreateOptions extends CallOptions {
  /** Default: a script that contains a canary. */
  readonly userData?: Uint8Array;
  /** Default: one that follows from the UID of the machine. */
  readonly token?: string;
}

/** Calls of one driver with one class and one secret, as the controllers make them. */
export interface Caller {
  readonly target: CallTarget;
  /** The same with another driver, class or secret. */
  with(change: Partial<CallTarget>): Caller;
  /** One call of `createMachine`. */
  createOnce(machine: MachineIdentity, options?: CreateOptions): Promise<CreateMachineResponse | PendingResponse>;
  /** Repeats `createMachine` while it is pending. */
  create(machine: MachineIdentity, options?: CreateOptions): Promise<CreateMachineResponse>;
  /** One call of `deleteMachine`. */
  removeOnce(machine: MachineIdentity, options?: CallOptions): Promise<DeleteMachineResponse | PendingResponse>;
  /** Repeats `deleteMachine` while it is pending. */
  remove(machine: MachineIdentity, options?: CallOptions): Promise<DeleteMachineResponse>;
  status(machine: MachineIdentity, options?: CallOptions): Promise<MachineStatusResponse>;
  list(options?: CallOptions): Promise<readonly ListedMachine[]>;
  initialize(machine: MachineIdentity, options?: CallOptions): Promise<InitializeMachineResponse>;
  drift(machine: MachineIdentity, options?: CallOptions): Promise<FindDriftResponse>;
  volumeIds(volumes: readonly Readonly<Record<string, unknown>>[]): Promise<GetVolumeIdsResponse>;
  template(options?: CallOptions): Promise<GetNodeTemplateResponse>;
  checkClass(options?: CallOptions): Promise<CheckClassResponse>;
}

/** What callers of a run share. */
export interface CallerHost extends CallHost {
  readonly userData: Secret;
  /** Called before each creation. */
  readonly onCreate: (machine: MachineIdentity, caller: Caller) => void;
  /** Called after each deletion that succeeded. */
  readonly onDelete: (machine: MachineIdentity) => void;
}

const tokenOf = ({ uid }: MachineIdentity): string => `token-${uid}`.slice(0, 64);

type Call = <T>(method: keyof Driver, invoke: (context: DriverContext) => unknown, options?: CallOptions) => Promise<T>;

type ClassFor = (read: typeof readProviderSpec) => Promise<ClassIdentity<unknown>>;

/** Calls of methods that a driver may leave out. */
function optionalCalls(
  { driver, secret }: CallTarget,
  call: Call,
  classFor: ClassFor,
): Pick<Caller, "list" | "initialize" | "drift" | "volumeIds" | "template" | "checkClass"> {
  return {
    async list(options) {
      const request = { machineClass: await classFor(readSpecOfVm), secret };
      const invoke = (context: DriverContext): unknown => driver.listMachines?.(request, context);
      const { machines } = await call<ListMachinesResponse>("listMachines", invoke, options);
      return machines;
    },
    async initialize(machine, options) {
      const request = { machine, machineClass: await classFor(readSpecOfVm), secret };
      return call("initializeMachine", (context) => driver.initializeMachine?.(request, context), options);
    },
    async drift(machine, options) {
      const request = { machine, machineClass: await classFor(readProviderSpec), secret };
      return call("findDrift", (context) => driver.findDrift?.(request, context), options);
    },
    volumeIds: (volumes) => call("getVolumeIds", (context) => driver.getVolumeIds({ volumes }, context)),
    async template(options) {
      const request = { machineClass: await classFor(readProviderSpec), secret };
      return call("getNodeTemplate", (context) => driver.getNodeTemplate?.(request, context), options);
    },
    async checkClass(options) {
      const request = { machineClass: await classFor(readProviderSpec), secret };
      return call("checkClass", (context) => driver.checkClass?.(request, context), options);
    },
  };
}

/** Creates a caller. */
export function createCaller(host: CallerHost, target: CallTarget): Caller {
  const { driver, machineClass, secret } = target;
  const name = machineClass.name ?? "conformance";
  const { nodeTemplate } = machineClass;
  const identity = <Spec>(spec: Spec): ClassIdentity<Spec> => ({
    name,
    spec,
    ...(nodeTemplate === undefined ? {} : { nodeTemplate }),
  });
  const classFor = async (read: typeof readProviderSpec): Promise<ClassIdentity<unknown>> => {
    const result = await host.scope.run(() => read(driver, machineClass));
    if (!result.ok) throw failed(`The driver rejects the class: ${formatProblems(result.problems)}`);
    return identity(result.spec);
  };
  const call = <T>(
    method: keyof Driver,
    invoke: (context: DriverContext) => unknown,
    options?: CallOptions,
  ): Promise<T> => {
    if (driver[method] === undefined) throw notApplicable(`The driver has no ${method}.`);
    return runCall<T>(host, method, invoke, options);
  };
  /** Repeats a call while its answer is pending. */
  const untilFinal = async <T extends object>(
    once: () => Promise<T | PendingResponse>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    for (;;) {
      const answer = await once();
      if (!("pending" in answer)) return answer;
      await host.clock.sleep(Math.min(answer.pending.checkAfterMs, maxCheckAfterMs), signal);
    }
  };
  const ofMachine = async (machine: MachineIdentity) => ({
    machine,
    machineClass: await classFor(readSpecOfVm),
    secret,
  });

  const caller: Caller = {
    target,
    with: (change) => createCaller(host, { ...target, ...change }),
    async createOnce(machine, { userData, token = tokenOf(machine), ...options } = {}) {
      const machineClass = await classFor(readProviderSpec);
      host.onCreate(machine, caller);
      const request = {
        machine,
        machineClass,
        secret,
        idempotencyToken: token,
        userData: userData === undefined ? host.userData : Secret.of(userData),
      };
      return call("createMachine", (context) => driver.createMachine(request, context), options);
    },
    create: (machine, options) =>
      untilFinal<CreateMachineResponse>(() => caller.createOnce(machine, options), options?.signal),
    async removeOnce(machine, options) {
      const request = await ofMachine(machine);
      return call("deleteMachine", (context) => driver.deleteMachine(request, context), options);
    },
    async remove(machine, options) {
      const once = () => caller.removeOnce(machine, options);
      const reply = await untilFinal<DeleteMachineResponse>(once, options?.signal);
      host.onDelete(machine);
      return reply;
    },
    async status(machine, options) {
      const request = await ofMachine(machine);
      return call("getMachineStatus", (context) => driver.getMachineStatus(request, context), options);
    },
    ...optionalCalls(target, call, classFor),
  };
  return caller;
}
