import {
  type ControllerContext,
  createCapacityController,
  createClassStatusController,
  createForeignAnnotationController,
  createMachineClassController,
  createMachineController,
  createMachineDeploymentController,
  createMachineSetController,
  createSecretController,
  defaultOvershootMargins,
  type Live,
  type MachineController,
  type MachineControllerOptions,
  type MachineSettings,
  type OvershootMargins,
  unmanagedNodeControllers,
} from "@millwright/controllers";
import { type ControllerName, controllerNames } from "@millwright/core/machine-api";
import type { Controller } from "@millwright/kube";
import type { Registry } from "prom-client";
import type { DriverHost } from "../drivers/driver-host.ts";
import { followVms, type FollowVmsOptions } from "./follow-vms.ts";
import { countFailedVmLists } from "../metrics/failed-vm-lists.ts";
import { measureOperations } from "../metrics/operations.ts";

/** Which controllers run, and how. */
export interface ManagerControllersOptions extends FollowVmsOptions {
  /** Default: all. Others may run in another process, such as one of MCM. */
  readonly controllers?: readonly ControllerName[];
  /** Whether scale-down by the cluster-autoscaler is disabled during rollouts; `false` removes the annotations set before. Default: true. */
  readonly disablesScaleDownDuringRollouts?: boolean;
  /** How many machines too many freeze a MachineSet, and at how many fewer it is unfrozen. Default: `defaultOvershootMargins`. */
  readonly overshootMargins?: Partial<OvershootMargins>;
}

/** The controllers of a manager. */
export interface ManagerControllers {
  readonly all: readonly Controller[];
  /** Why Machines are not acted on, in order; none without the controller of machines. */
  readonly guards: MachineController["guards"];
  /** Reconciles a class again, whose driver is there now. */
  recheckClass(key: string): void;
  recheckMachine(key: string): void;
  /** Sets other margins of the protection against too many machines. */
  setMargins(margins: Partial<OvershootMargins>): void;
  /** Applies changed limits of creations. */
  limitsChanged(): void;
  /** Marks machines that are being deleted, when all reconciles have ended. Does nothing without the controller of machines. */
  handOver(): Promise<void>;
  close(): Promise<void>;
}

/** What all controllers are made with. */
interface ControllerParts {
  readonly driver: DriverHost;
  readonly registry: Registry;
  readonly settings: Live<MachineSettings>;
  readonly workers: number;
  readonly wrapOperations?: MachineControllerOptions["wrapOperations"];
  has(name: ControllerName): boolean;
}

/** The lists of VMs, which the controllers of machines and of VMs without machine read. */
function createVms(
  context: ControllerContext,
  { driver, registry, settings, has }: ControllerParts,
  options: ManagerControllersOptions,
): ReturnType<typeof followVms> | undefined {
  const collects = has("machine-safety-orphan-vms");
  if (!collects && !has("machine")) return undefined;
  const mode = collects ? options : { ...options, orphanVms: "off" as const };
  const { namespace, caches, clock } = context;
  const onFailed = countFailedVmLists(registry, {
    namespace,
    exists: (name) => caches.classes.store.getByRef({ namespace, name }) !== undefined,
    monotonicMs: () => clock.monotonicMs(),
  });
  return followVms(context, driver, settings, mode, onFailed);
}

function createMachines(
  context: ControllerContext,
  { driver, registry, settings, workers, wrapOperations, has }: ControllerParts,
  vms: ReturnType<typeof followVms> | undefined,
  disablesScaleDown: boolean,
): MachineController | undefined {
  if (vms === undefined || !has("machine")) return undefined;
  const { missingVms, vmOwners } = vms;
  const machine = createMachineController(context, {
    driver,
    missingVms,
    vmOwners,
    settings,
    workers,
    // Only where the controller that removes the marks runs, too.
    disablesScaleDown: disablesScaleDown && has("machinedeployment"),
    ...(wrapOperations === undefined ? {} : { wrapOperations }),
  });
  measureOperations(registry, context.namespace, machine.operations);
  return machine;
}

function createClasses(context: ControllerContext, { driver, workers, has }: ControllerParts) {
  if (!has("machineclass")) return undefined;
  const capacity = createCapacityController(context, driver);
  const classStatus = createClassStatusController(context, driver);
  /** Those that call drivers. */
  const ofDriver = [capacity.controller, classStatus];
  return {
    capacity,
    ofDriver,
    all: [capacity.controller, createMachineClassController(context, workers), classStatus],
  };
}

/** Makes the selected controllers. One that is not selected follows no cache and sends no request. */
export function createManagerControllers(
  context: ControllerContext,
  common: Omit<ControllerParts, "has">,
  options: ManagerControllersOptions,
): ManagerControllers {
  const { controllers: selected = controllerNames, overshootMargins, disablesScaleDownDuringRollouts = true } = options;
  const has = (name: ControllerName): boolean => selected.includes(name);
  const parts = { ...common, has };
  const { workers, settings } = common;
  const vms = createVms(context, parts, options);
  const machine = createMachines(context, parts, vms, disablesScaleDownDuringRollouts);
  const classes = createClasses(context, parts);
  let margins = { ...defaultOvershootMargins, ...overshootMargins };
  const made: readonly (readonly [ControllerName, () => Controller])[] = [
    [
      "machineset",
      () => createMachineSetController(context, workers, { current: () => margins }, vms?.census, vms?.vmOwners),
    ],
    [
      "machinedeployment",
      () =>
        createMachineDeploymentController(context, workers, {
          disablesScaleDown: disablesScaleDownDuringRollouts,
          awaitsFirstSync: has("machine"),
        }),
    ],
    ["secret", () => createSecretController(context, workers)],
  ];
  return {
    all: [
      ...made.filter(([name]) => has(name)).map(([, create]) => create()),
      ...[machine?.controller, ...(vms?.controllers ?? [])].filter((each) => each !== undefined),
      ...(classes?.all ?? []),
      ...(has("machine") ? [createForeignAnnotationController(context)] : []),
      ...(has("node") ? unmanagedNodeControllers(context, settings.current()) : []),
    ],
    guards: machine?.guards ?? [],
    recheckClass(key) {
      for (const controller of classes?.ofDriver ?? []) controller.enqueue(key);
    },
    setMargins(changed) {
      margins = { ...margins, ...changed };
    },
    recheckMachine: (key) => machine?.controller.enqueue(key),
    limitsChanged: () => machine?.operations.limitsChanged(),
    handOver: async () => machine?.handOver(),
    async close() {
      await Promise.all([machine?.close(), vms?.close(), classes?.capacity.close()]);
    },
  };
}
