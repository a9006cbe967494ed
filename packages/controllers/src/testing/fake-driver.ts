import type { SecretData } from "@millwright/base";
import { MachineError, type MachineErrorCode } from "@millwright/core";
import type { Machine, MachineClass } from "@millwright/core/machine-api";
import type { ClassProblem, DriverOutcome, MachineDriver, VmCall } from "../model/driver-port.ts";
import type { OperationResult, PendingOperation } from "../model/operation.ts";

/** The calls of the port that reach the cloud. */
export type FakeMethod = "ensureVm" | "initializeVm" | "findVm" | "deleteVm";

/** A cloud in memory behind the port of the machine controller: one VM per machine UID. */
export interface FakeDriver extends MachineDriver {
  /** Method and machine of every call. */
  readonly calls: string[];
  /** VM ids by machine UID. */
  readonly vms: Map<string, string>;
  /** The failures that are left. Empty it with `faults.length = 0`. */
  readonly faults: {
    readonly method: string;
    readonly code: MachineErrorCode;
    times: number;
    readonly after: boolean;
    /** The machines that it hits. Absent: all. */
    readonly of?: (machine: Machine) => boolean;
  }[];
  /** Lets the next calls of a method fail; `after` the VM is made or gone, if so wanted. */
  fail(method: FakeMethod, code: MachineErrorCode, times?: number, after?: "after"): void;
  /** Lets the next calls of a method about each machine answer that it is pending. */
  pend(method: "ensureVm" | "deleteVm", callsPerMachine: number, message?: string, checkAfterMs?: number): void;
  /** Holds every call back until the returned function is called, or those about some machines. */
  hold(of?: (machine: Machine) => boolean): () => void;
}

/** How a fake driver differs from the plain one. */
export interface FakeDriverOptions {
  /** VMs want to be initialized. */
  readonly initializes?: boolean;
  /** What the ids of VMs begin with. Default: nothing, `vm-1` and so on. */
  readonly idPrefix?: string;
  /** What the driver rejects. Default: nothing. */
  readonly rejects?: (machineClass: MachineClass, secret: SecretData | undefined) => ClassProblem | undefined;
  /** The name of a VM's node. Default `node-of-<machine>`. */
  readonly nodeName?: (machine: Machine) => string;
}

/** The CSI handle of a volume's spec; other volumes are not of this cloud. */
function handleOf({ csi }: Readonly<Record<string, unknown>>): string | null {
  return typeof csi === "object" && csi !== null && "volumeHandle" in csi && typeof csi.volumeHandle === "string"
    ? csi.volumeHandle
    : null;
}

/** Makes a {@link FakeDriver} for classes of provider `mock`. */
export function createFakeDriver(options: FakeDriverOptions = {}): FakeDriver {
  const calls: string[] = [];
  const initialized = new Set<string>();
  const vms = new Map<string, string>();
  const faults: FakeDriver["faults"] = [];
  /** By method: what is pending, for how many calls about each machine, and how many there were by UID. */
  const delays = new Map<string, PendingOperation & { readonly calls: number; readonly waited: Map<string, number> }>();
  let gate: { readonly opened: Promise<void>; readonly of: (machine: Machine) => boolean } | undefined;
  let made = 0;

  const idOf = ({ metadata }: Machine): string => metadata.uid ?? "";
  const found = (machine: Machine, isAdopted: boolean): OperationResult => ({
    providerId: vms.get(idOf(machine)) ?? "",
    nodeName: options.nodeName?.(machine) ?? `node-of-${machine.metadata.name}`,
    isAdopted,
    ...(options.initializes === true && !initialized.has(idOf(machine)) ? { needsInitialization: true } : {}),
  });
  const method =
    (name: FakeMethod, act: (machine: Machine) => OperationResult) =>
    async ({ machine }: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>> => {
      calls.push(`${name} ${machine.metadata.name}`);
      await (gate?.of(machine) === true ? gate.opened : undefined);
      try {
        signal.throwIfAborted();
      } catch {
        return { ok: false, error: new MachineError("Aborted", "the call was aborted") };
      }
      const fault = faults.find((each) => each.method === name && each.times > 0 && each.of?.(machine) !== false);
      if (fault !== undefined) {
        fault.times--;
        if (fault.after) act(machine);
        return { ok: false, error: new MachineError(fault.code, "injected") };
      }
      try {
        return { ok: true, value: act(machine) };
      } catch (error) {
        if (error instanceof MachineError) return { ok: false, error };
        throw error;
      }
    };

  /** A method whose successful calls may be pending first. */
  const delayed =
    (name: "ensureVm" | "deleteVm", act: (machine: Machine) => OperationResult) =>
    async (call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult | PendingOperation>> => {
      const delay = delays.get(name);
      const uid = idOf(call.machine);
      const waited = delay?.waited.get(uid) ?? 0;
      if (delay === undefined || waited >= delay.calls) return method(name, act)(call, signal);
      delay.waited.set(uid, waited + 1);
      const outcome = await method(name, () => ({}))(call, signal);
      return outcome.ok ? { ok: true, value: { pending: delay.pending } } : outcome;
    };

  return {
    calls,
    vms,
    faults,
    ensureVm: delayed("ensureVm", (machine) => {
      const isAdopted = vms.has(idOf(machine));
      if (!isAdopted) vms.set(idOf(machine), `${options.idPrefix ?? ""}vm-${++made}`);
      return found(machine, isAdopted);
    }),
    initializeVm: method("initializeVm", (machine) => {
      if (!vms.has(idOf(machine))) throw new MachineError("NotFound", "no VM");
      initialized.add(idOf(machine));
      return {};
    }),
    findVm: method("findVm", (machine) => {
      if (!vms.has(idOf(machine))) throw new MachineError("NotFound", "no VM");
      return found(machine, true);
    }),
    deleteVm: delayed("deleteVm", (machine) => {
      if (!vms.delete(idOf(machine))) throw new MachineError("NotFound", "no VM");
      return {};
    }),
    listVms: async () => ({ ok: false, error: new MachineError("Unimplemented", "the fake driver lists no VMs") }),
    volumeIds: async (_, specs) => ({ ok: true, value: specs.map((spec) => handleOf(spec)) }),
    unknownKeysOf: () => "",
    rejectionOf: async (machineClass, secret) => options.rejects?.(machineClass, secret),
    missingDriver: ({ provider = "" }) =>
      provider === "mock" ? undefined : `provider: no driver "${provider}" is loaded; expected "mock"`,
    fail(name, code, times = 1, after) {
      faults.push({ method: name, code, times, after: after === "after" });
    },
    pend(name, callsPerMachine, message = "wiping disks", checkAfterMs = 30_000) {
      delays.set(name, { pending: { message, checkAfterMs }, calls: callsPerMachine, waited: new Map() });
    },
    hold(of = () => true) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { opened: promise, of };
      return resolve;
    },
  };
}
