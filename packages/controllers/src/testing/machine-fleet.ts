import { seededRandom } from "@millwright/base";
import type { ListedMachine } from "@millwright/core";
import {
  finalizers,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { ApiError, type EventRecord, nodeResource, secretResource } from "@millwright/kube";
import type { FakeApi } from "@millwright/kube/testing";
import { onTestFinished } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import { createMachineController } from "../machine/controller.ts";
import type { DriverOutcome } from "../model/driver-port.ts";
import { defaultMachineSettings, type MachineSettings } from "../model/machine-settings.ts";
import { createMissingVms } from "../vm-lists/missing-vms.ts";
import { createVmOwners } from "../vm-lists/vm-owners.ts";
import { createVmLists } from "../vm-lists/vm-lists.ts";
import { aMachine, aMachineClass, aMachineDeployment, aNode, type Change, named, refOf } from "./builders.ts";
import { createTestCluster } from "./cluster.ts";
import { createFakeDriver } from "./fake-driver.ts";
import { fixed } from "../model/live.ts";

/** Milliseconds of a minute. */
export const MINUTE = 60_000;

const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

/** The node of a machine. */
export const nodeOf = (name: string) => ({ name: `node-of-${name}` });

/** Machines that have joined and run, what `prepare` adds to them, and the real controller that manages them all. */
export async function aFleet(
  machines: Readonly<Record<string, Change<Machine>>>,
  options: {
    readonly settings?: Partial<MachineSettings>;
    readonly workers?: number;
    readonly limit?: string;
    /** What the cloud lists. Default: VMs are not listed. */
    readonly listVms?: () => DriverOutcome<readonly ListedMachine[]>;
  } = {},
  prepare: (api: FakeApi) => void = () => {},
) {
  const logged: string[] = [];
  const { api, clock, newContext, run } = createTestCluster({
    log: (_, message) => void logged.push(message),
    ...(options.listVms === undefined ? {} : { random: seededRandom(1) }),
  });
  const driver = createFakeDriver();
  const events: string[] = [];
  api.seed(machineClassResource, aMachineClass());
  const userData = Buffer.from("#cloud-config").toString("base64");
  api.seed(secretResource, { metadata: refOf("small"), data: { userData } });
  api.seed(
    machineDeploymentResource,
    aMachineDeployment(
      options.limit === undefined
        ? {}
        : { metadata: { annotations: { "machine.millwright.dev/max-in-flight-remediations": options.limit } } },
    ),
  );
  for (const [name, change] of Object.entries(machines)) {
    const metadata = {
      labels: { node: nodeOf(name).name },
      annotations: { "machinepriority.machine.sapcloud.io": "3" },
    };
    const status = { ...ready("True"), currentStatus: { phase: "Running", lastUpdateTime: "2026-01-01T00:00:00Z" } };
    const machine = aMachine({ metadata, spec: { providerID: `vm-${name}` }, status }, named(name), change);
    driver.vms.set(machine.metadata.uid ?? "", `vm-${name}`);
    api.seed(machineResource, machine);
    api.seed(
      nodeResource,
      aNode({
        metadata: {
          ...nodeOf(name),
          finalizers: [finalizers.node],
          labels: { "node.gardener.cloud/machine-name": name },
        },
        spec: { providerID: `vm-${name}` },
        status: ready("True"),
      }),
    );
  }

  prepare(api);
  // The fake reads its history for every watch.
  api.compact();

  let reconciles = (): number => 0;
  let pendingEvictions = (): number => 0;
  const start = async () => {
    const stop = new AbortController();
    const context: ControllerContext = {
      ...newContext(),
      events: {
        record: (_: unknown, { reason }: EventRecord) => void events.push(reason),
        flush: async () => {},
        close: () => {},
        counts: () => ({ sent: 0, dropped: 0 }),
      },
    };
    const { listVms } = options;
    const lister = { ...driver, listsVms: () => listVms !== undefined };
    const lists =
      listVms === undefined ? undefined : createVmLists(context, { ...lister, listVms: async () => listVms() });
    const { controller, close, ...views } = createMachineController(context, {
      driver,
      ...(lists === undefined
        ? {}
        : { missingVms: createMissingVms(context, lister, lists), vmOwners: createVmOwners(context, lists) }),
      settings: fixed({ ...defaultMachineSettings, ...options.settings }),
      workers: options.workers ?? 10,
    });
    reconciles = () => controller.counts().reconciles;
    pendingEvictions = views.pendingEvictions;
    await run(context, stop.signal);
    const running = Promise.all([controller.start(stop.signal), lists?.controller.start(stop.signal)]);
    const end = async () => {
      stop.abort(new Error("stopped"));
      await close();
      await running;
    };
    onTestFinished(end);
    await clock.advance(100);
    return end;
  };
  const end = await start();

  const machine = (name: string) => api.peek<Machine>(machineResource, refOf(name));
  const phase = (name: string) => machine(name)?.status?.currentStatus?.phase;
  const text = (name: string) => machine(name)?.status?.lastOperation?.description ?? "";
  const report = (name: string, status: string) => api.change(nodeResource, nodeOf(name), { status: ready(status) });
  const inPhases = (wanted: string) => Object.keys(machines).filter((name) => phase(name) === wanted);
  const away = (times: number) => {
    const unreachable = new ApiError({ status: 0, reason: "Unreachable", message: "no route" });
    // Without the API server of the machines nothing is reconciled: only that of the nodes is unreachable.
    api.inject({ verb: "watch", type: nodeResource, error: unreachable, times });
    api.endWatches();
  };
  return {
    api,
    clock,
    driver,
    events,
    logged,
    start,
    end,
    machine,
    phase,
    text,
    report,
    inPhases,
    away,
    /** Reconciles of the controller that was started last. */
    reconciles: () => reconciles(),
    /** Evictions that its queue still holds. */
    pendingEvictions: () => pendingEvictions(),
  };
}

/** So many machines, for `aFleet`. */
export const fleetOf = (count: number, change: (index: number) => Change<Machine> = () => ({})) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`m${String(index).padStart(2, "0")}`, change(index)]),
  );
