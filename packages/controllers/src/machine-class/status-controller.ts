import { wallTimeOf } from "@millwright/base";
import {
  eventReasons,
  formatProblems,
  type Machine,
  type MachineClass,
  machineClassResource,
  type MachineSet,
  validateMachineClass,
} from "@millwright/core/machine-api";
import { type Controller, createController, equalJson, keyOf, objectFields, watchTriggers } from "@millwright/kube";
import { carryOut } from "../cluster/carry-out.ts";
import { resolveNamedClass } from "../cluster/class-view.ts";
import type { ControllerContext } from "../cluster/context.ts";
import { createControlWriter } from "../cluster/control-writer.ts";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { isSecretChange } from "../cluster/watch-classes.ts";
import { classNamesOf } from "../model/class-references.ts";
import type { ClassProblem, MachineDriver } from "../model/driver-port.ts";
import { creationFailureOf, worstFailure } from "./creation-failure.ts";
import { decideClassStatus } from "./decide-status.ts";

/** The drivers as the status controller uses them. */
type ClassDriver = Pick<MachineDriver, "missingDriver" | "rejectionOf" | "unknownKeysOf">;

/** What is known of a version of a class and its Secrets. */
interface Inspection {
  /** The version. */
  readonly of: string;
  /** Whether its Secrets had been read. */
  readonly isComplete: boolean;
  /** Why no machine of it can be created, from the class alone: reported to all that refer to it. */
  readonly rejection: string | undefined;
  /** The same, its Secrets included, as far as they were read: a machine that needs them has them read. */
  readonly problem: ClassProblem | undefined;
  readonly unknownKeys: string;
}

/** What this process remembers of a class. All of it may be lost. */
interface ClassMemory {
  inspection?: Inspection;
  /** By the monotonic clock. */
  failedAtMs: number;
  reportedRejection?: string | undefined;
  reportedKeys: string;
}

async function rejectionOf(machineClass: MachineClass, driver: ClassDriver): Promise<string | undefined> {
  const subject = `MachineClass "${machineClass.metadata.name}"`;
  const problems = [...shapeProblemsOf(machineClass), ...validateMachineClass(machineClass)];
  if (problems.length > 0) return `${subject}: ${formatProblems(problems)}`;
  const missing = driver.missingDriver(machineClass);
  if (missing !== undefined) return `${subject}: ${missing}`;
  return (await driver.rejectionOf(machineClass, undefined))?.problem;
}

/** Looks at a class and its Secrets, without any call to a cloud. Once for each version, and again when its Secrets have been read. */
async function inspect(
  machineClass: MachineClass,
  { caches, namespace }: ControllerContext,
  driver: ClassDriver,
  former: Inspection | undefined,
): Promise<Inspection> {
  const { view, inputs, secret, unread } = resolveNamedClass(machineClass.metadata.name, caches, namespace, driver);
  const isComplete = unread.length === 0;
  const of = JSON.stringify([inputs, machineClass.nodeTemplate]);
  if (former?.of === of && (former.isComplete || !isComplete)) return former;
  const ofView = view.state === "usable" ? view.unmetPrecondition : isComplete ? view : undefined;
  const rejection = await rejectionOf(machineClass, driver);
  const problem = ofView ?? (await driver.rejectionOf(machineClass, isComplete ? secret : undefined));
  const unknownKeys = rejection === undefined ? driver.unknownKeysOf(machineClass) : "";
  return { of, isComplete, rejection, problem, unknownKeys };
}

/** What a machine shows about its class: a failure, or that it was rejected after its Secrets were read. */
const evidenceOf = (machine: Machine | undefined): unknown =>
  machine && [creationFailureOf(machine), machine.status?.lastOperation?.errorCode];

/** Enqueues a class when it, its Secrets or what its machines show of it change. */
function watchInputs({ caches, namespace }: ControllerContext, controller: Controller): void {
  const { classes, secrets, machines } = caches;
  watchTriggers({ store: classes.store, controller, keys: (machineClass) => [keyOf(machineClass)] });
  watchTriggers({
    store: secrets.store,
    controller,
    when: isSecretChange,
    keys: ({ metadata }) => classes.store.byIndex("secret", metadata.name).map(keyOf),
  });
  watchTriggers<Machine>({
    store: machines.store,
    controller,
    when: (old, current) => !equalJson(evidenceOf(old), evidenceOf(current)),
    keys: (machine) => classNamesOf(machine).map((name) => `${namespace}/${name}`),
  });
}

/**
 * Makes the controller that reports whether VMs can be created from a class: in annotations of the class, and, where the class itself prevents it, once for each problem on the sets and deployments that
 * refer to it. Otherwise it would be noticed with the next machine only, which may be months after another driver took over.
 */
export function createClassStatusController(context: ControllerContext, driver: ClassDriver): Controller {
  const { caches, namespace, clock, random, log, events } = context;
  const { store } = caches.classes;
  const writer = createControlWriter(context, machineClassResource, store);
  /** By UID of the class. */
  const memories = new Map<string, ClassMemory>();

  const refersTo =
    (name: string) =>
    ({ spec }: Pick<MachineSet, "spec">): boolean =>
      spec?.template?.spec?.class?.name === name;

  const memoryOf = ({ metadata: { uid = "" } }: MachineClass): ClassMemory => {
    const memory = memories.get(uid) ?? { failedAtMs: clock.monotonicMs(), reportedKeys: "" };
    memories.set(uid, memory);
    return memory;
  };

  const reportRejection = (machineClass: MachineClass, message: string | undefined, memory: ClassMemory): void => {
    if (message === memory.reportedRejection) return;
    memory.reportedRejection = message;
    if (message === undefined) return;
    const event = { type: "Warning", reason: eventReasons.invalidMachineClass, message } as const;
    const owners = [...caches.deployments.store.list(namespace), ...caches.sets.store.list(namespace)];
    for (const object of [...owners.filter(refersTo(machineClass.metadata.name)), machineClass])
      events.record(object, event);
    log("warn", event.reason, { ...objectFields(machineClass), because: message });
  };

  const controller = createController({
    name: "machine-class-status",
    workers: 1,
    waitFor: [caches.classes, caches.secrets, caches.machines, caches.sets, caches.deployments],
    allKeys: () => store.list(namespace).map(keyOf),
    clock,
    random,
    log,
    reconcile: async (key) => {
      const machineClass = store.get(key);
      if (machineClass === undefined) return { done: true };
      const { name } = machineClass.metadata;
      const memory = memoryOf(machineClass);
      const inspection = await inspect(machineClass, context, driver, memory.inspection);
      memory.inspection = inspection;
      reportRejection(machineClass, inspection.rejection, memory);
      const failure = worstFailure(caches.machines.store.byIndex("class", name));
      if (failure !== undefined) memory.failedAtMs = clock.monotonicMs();
      const { problem, unknownKeys } = inspection;
      const decision = decideClassStatus(
        {
          machineClass,
          problem,
          failure,
          unknownKeys,
          lastFailureAt: wallTimeOf(clock, memory.failedAtMs),
          reportedKeys: memory.reportedKeys,
        },
        clock.now(),
      );
      const write = ({ annotations }: (typeof decision.actions)[number]): Promise<void> =>
        writer.patch({ namespace, name }, { metadata: { uid: machineClass.metadata.uid, annotations } });
      const result = await carryOut(decision, write, { object: machineClass, writer, events, log });
      memory.reportedKeys = unknownKeys;
      return result;
    },
  });
  watchInputs(context, controller);
  store.subscribe((old, current) => {
    const uid = old?.metadata.uid;
    if (uid !== undefined && uid !== current?.metadata.uid) memories.delete(uid);
  });
  return controller;
}
