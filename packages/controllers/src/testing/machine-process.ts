import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { nodeResource, secretResource } from "@millwright/kube";
import { type FakeCall } from "@millwright/kube/testing";
import { onTestFinished } from "vitest";
import { aMachine, aMachineClass, aNode, type Change, testNamespace } from "./builders.ts";
import { createClassChecks } from "../cluster/class-checks.ts";
import { createTestCluster } from "./cluster.ts";
import { createFakeDriver, type FakeDriverOptions } from "./fake-driver.ts";
import { createMachineController } from "../machine/controller.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { fixed } from "../model/live.ts";

/** The machine of every test. */
export const ref = { namespace: testNamespace, name: "machine" };

/** The secret of its class. */
export const secretRef = { namespace: testNamespace, name: "small" };

/** That secret, with these values. */
export const aSecret = (data: Readonly<Record<string, string>>) => ({
  metadata: secretRef,
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
});

/** Its node. */
export const nodeRef = { name: "node-of-machine" };

/** The status of a node whose readiness is this. */
export const ready = (status = "True") => ({ conditions: [{ type: "Ready", status }] });

/** A process with the real controller of machines. */
interface Process {
  readonly reconciles: () => number;
  readonly stop: () => Promise<void>;
}

/** A fake API server with a class, a cloud, and controllers of machines that are started one after the other; all end with the test. */
export function setUp(
  options: { readonly hasTarget?: boolean; readonly crdGuard?: CrdGuard } & Pick<
    FakeDriverOptions,
    "idPrefix" | "initializes" | "rejects"
  > = {},
) {
  const { api, clock, newContext, run } = createTestCluster();
  const { hasTarget, crdGuard, ...driverOptions } = options;
  const driver = createFakeDriver(driverOptions);
  const processes: Process[] = [];
  /** Ends every process that was started. */
  const stopAll = async (): Promise<void> => {
    await Promise.all(processes.splice(0).map((process) => process.stop()));
  };
  onTestFinished(stopAll);
  api.seed(machineClassResource, aMachineClass());
  api.seed(secretResource, aSecret({ userData: "#cloud-config" }));

  const start = async (): Promise<Process> => {
    const stop = new AbortController();
    const { target, ...rest } = newContext();
    const guarded = crdGuard === undefined ? rest : { ...rest, crdGuard };
    const checked = { ...guarded, classChecks: createClassChecks(driver) };
    const context = hasTarget === false ? checked : { ...checked, target };
    const { controller, operations } = createMachineController(context, {
      driver,
      settings: fixed(defaultMachineSettings),
      workers: 2,
    });
    await run(context, stop.signal);
    const running = controller.start(stop.signal);
    const process = {
      reconciles: () => controller.counts().reconciles,
      stop: async () => {
        stop.abort(new Error("stopped"));
        await operations.close();
        await running;
      },
    };
    processes.push(process);
    return process;
  };
  const machine = (): Machine | undefined => api.peek<Machine>(machineResource, ref);
  const phase = (): string | undefined => machine()?.status?.currentStatus?.phase;
  const create = (...changes: readonly Change<Machine>[]) => api.seed(machineResource, aMachine(...changes));
  const join = (status = "True") =>
    api.seed(nodeResource, aNode({ metadata: nodeRef, spec: { providerID: "vm-1" }, status: ready(status) }));
  /** What was written, without events. */
  const writes = (): readonly string[] =>
    api
      .writes()
      .map(
        ({ verb, resource, subresource }: FakeCall) =>
          `${verb} ${resource.split(".")[0]}${subresource === undefined ? "" : `/${subresource}`}`,
      );
  return { api, clock, driver, start, stopAll, machine, phase, create, join, writes };
}
