import { objectFields } from "@millwright/kube";
import { providerIdKey } from "@millwright/core/driver-host";
import type { Machine, MachineClass } from "@millwright/core/machine-api";
import type { ControllerContext } from "../../cluster/context.ts";
import type { ResolvedClass } from "../../cluster/class-view.ts";
import type { BootstrapTokens } from "../creation/bootstrap-tokens.ts";
import type { MachineAction } from "../state/decision.ts";
import type { CreateVmCall, MachineDriver, VmCall } from "../../model/driver-port.ts";
import type { OperationKind } from "../../model/operation.ts";
import type { Operations, OperationStart } from "./operations.ts";
import type { Live } from "../../model/live.ts";
import type { MachineSettings } from "../../model/machine-settings.ts";
import { creationTimeoutMs } from "../../model/timeouts.ts";
import { createCreationUndo } from "./undo-creation.ts";

type StartAction = Extract<MachineAction, { readonly kind: "StartOperation" }>;

export interface StarterOptions {
  readonly operations: Operations;
  readonly driver: MachineDriver;
  readonly settings: Live<MachineSettings>;
  /** Absent without a target cluster. */
  readonly tokens: BootstrapTokens | undefined;
  readonly enqueue: (machine: Machine) => void;
}

type Calls = Pick<MachineDriver, "initializeVm" | "findVm" | "deleteVm">;
const callOf: Readonly<Record<Exclude<OperationKind, "create">, keyof Calls>> = {
  initialize: "initializeVm",
  find: "findVm",
  delete: "deleteVm",
};

/** With what the driver of a class calls its cloud. */
const credentialOf = (machineClass: MachineClass): NonNullable<OperationStart["credential"]> => ({
  driver: machineClass.provider ?? "",
  secret: machineClass.credentialsSecretRef?.name ?? machineClass.secretRef?.name ?? "",
  machineClass: machineClass.metadata.name,
});

/**
 * Why a VM that the driver refuses to delete is not the machine's, as when people copied a Machine and took the finalizers of the original away: for this machine there is none to delete, and once no machine names the VM, it is for the
 * collector of orphans. Only the list of the cluster's VMs proves it: with a wrong cluster name, the driver refuses its own VMs, too.
 */
async function findOtherOwner(
  driver: MachineDriver,
  { machine, ...classCall }: VmCall,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = providerIdKey(machine.spec.providerID);
  const listed = id === undefined ? undefined : await driver.listVms(classCall, signal);
  if (listed?.ok !== true) return undefined;
  const vm = listed.value.find(({ providerId }) => providerIdKey(providerId) === id);
  if (vm === undefined || vm.machineName === machine.metadata.name) return undefined;
  return `VM ${vm.providerId} was created for Machine ${vm.machineName}`;
}

/** Makes the function that starts the driver call of a decision, outside of the queue. */
export function createStarter(
  context: ControllerContext,
  { operations, driver, settings, tokens, enqueue }: StarterOptions,
): (decidedOn: Machine, resolved: ResolvedClass, action: StartAction) => void {
  const { caches, log } = context;
  /** A patch of the same decision may have stored the id of the VM, or found that the machine is gone. */
  const latest = ({ metadata: { namespace, name, uid } }: Machine): Machine | undefined => {
    const stored = caches.machines.store.getByRef({ ...(namespace === undefined ? {} : { namespace }), name });
    return stored?.metadata.uid === uid ? stored : undefined;
  };

  const undoCreation = createCreationUndo(context, driver);
  const calls: Calls = {
    initializeVm: driver.initializeVm,
    findVm: driver.findVm,
    async deleteVm(call, signal) {
      const outcome = await driver.deleteVm(call, signal);
      if (outcome.ok || outcome.error.code !== "PermissionDenied") return outcome;
      const because = await findOtherOwner(driver, call, signal);
      if (because === undefined) return outcome;
      log("warn", "A machine that is being deleted names a VM that is not its own: the VM is kept", {
        ...objectFields(call.machine),
        because,
      });
      return { ok: true, value: { isKept: true } };
    },
  };

  return (decidedOn, { view, inputs, secret }, { operation: kind, token = "", launch }) => {
    // Decided on the same snapshot, so the class is usable.
    if (view.state !== "usable") return;
    const machine = latest(decidedOn);
    // A VM that is created now would have no machine.
    if (machine === undefined) return;
    const uid = machine.metadata.uid ?? "";
    const call: VmCall = { machine, machineClass: view.machineClass, secret };
    const common = { inputs, enqueue: () => enqueue(machine), credential: credentialOf(view.machineClass) };
    if (kind !== "create")
      return operations.start(uid, { ...common, kind, run: (signal) => calls[callOf[kind]](call, signal) });
    const creation: CreateVmCall = {
      ...call,
      idempotencyToken: token,
      ...(tokens === undefined
        ? {}
        : {
            bootstrapToken: () => tokens.ensure(machine, creationTimeoutMs({ machine, settings: settings.current() })),
          }),
    };
    operations.start(uid, {
      ...common,
      kind,
      run: (signal) => driver.ensureVm(creation, signal),
      ...(launch === undefined ? {} : { launch }),
      undo: ({ providerId = "" }, signal) => undoCreation(call, providerId, signal),
    });
  };
}
