import { readFileSync } from "node:fs";
import { isRecord } from "@millwright/base";
import {
  type MachineDeployment,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { hasHealthReaders, startHealthReaders } from "../harness/health-readers.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const ref = { namespace: "default", name: "fleet" };
const guide = readFileSync(new URL("../../docs/guides/gitops.md", import.meta.url), "utf8");
const [flux, argo] = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]): unknown => parse(text));

/** The expressions of the guide. */
function fluxChecks(): Readonly<Record<string, string>> {
  const { spec } = flux as { spec: { healthCheckExprs: readonly Readonly<Record<string, string>>[] } };
  const [{ current = "", failed = "" } = {}] = spec.healthCheckExprs;
  return { current, failed };
}

/** The script of the guide. */
function argoScript(): string {
  const { data } = argo as { data: Readonly<Record<string, string>> };
  return data["resource.customizations.health.machine.sapcloud.io_MachineDeployment"] ?? "";
}

let fleet: ControlledFleet;
let controllers: MillwrightProcess;
beforeEach(async () => {
  fleet = await startControlledFleet();
  await fleet.api.create(machineClassResource, machineClass("next"));
  controllers = fleet.runAlone();
});
afterEach(() => fleet.close());

const manifest = (className: string, spec: object = {}): KubeObject => {
  const object = machineDeployment("fleet", className, 2);
  return { ...object, spec: { ...(isRecord(object["spec"]) ? object["spec"] : {}), ...spec } };
};
const apply = (object: KubeObject, dryRun = false): Promise<KubeObject> =>
  fleet.api.patch(machineDeploymentResource, ref, object, {
    kind: "apply",
    fieldManager: "gitops",
    force: true,
    dryRun,
  });
const live = () => fleet.api.get<MachineDeployment>(machineDeploymentResource, ref);

/** What tools compare: an apply also shortens who owns what, which they leave out. */
const compared = ({ metadata, ...object }: KubeObject): object => ({
  ...object,
  metadata: { ...metadata, managedFields: undefined },
});

it("a deployment that is applied again differs in nothing, after the controllers have worked on it", async () => {
  const object = manifest("small");
  await apply(object);
  await fleet.untilRunning(2);
  const before = await eventually(async () => {
    const first = await live();
    const again = await apply(object, true);
    // The controllers may write the status in between.
    expect((await live()).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(compared(again)).toEqual(compared(first));
    return first;
  });
  expect(before.spec).toEqual(object["spec"]);
});

describe.runIf(hasHealthReaders)("the health of a deployment", () => {
  let readers: ReturnType<typeof startHealthReaders>;
  beforeEach(() => {
    readers = startHealthReaders();
  });
  afterEach(() => readers.end());

  /** What Flux and Argo CD find by the guide's checks, and kstatus without any, of the same state. */
  const judge = async () => {
    const object = await live();
    const isNew = object.status?.conditions === undefined;
    const ofFlux = isNew ? "InProgress" : await readers.ask({ object, cel: fluxChecks() });
    const kstatus = isNew ? "InProgress" : await readers.ask({ object });
    return { kstatus, flux: ofFlux, argo: await readers.ask({ object, lua: argoScript() }) };
  };
  const settled = { kstatus: "Current", flux: "Current", argo: "Healthy" };
  const rolling = { kstatus: "InProgress", flux: "InProgress", argo: "Progressing" };
  const failed = { kstatus: "Failed", flux: "Failed", argo: "Degraded" };

  it("is in progress until all machines are new and ready, for kstatus alone and by the guide's checks for Flux and Argo CD; each object is Current at the end", async () => {
    await apply(manifest("small"));
    expect(await judge()).toEqual(rolling);
    await eventually(async () => expect(await judge()).toEqual(settled), 60_000);
    expect(await fleet.machines()).toHaveLength(2);

    await apply(manifest("next"));
    const seen: object[] = [];
    await eventually(async () => {
      const found = await judge();
      seen.push(found);
      expect(found).toEqual(settled);
    }, 60_000);
    expect(seen.length).toBeGreaterThan(1);
    for (const found of seen.slice(0, -1)) expect(found).toEqual(rolling);
    const machines = await fleet.machines();
    expect(machines.map(({ spec, status }) => [spec.class?.name, status?.currentStatus?.phase])).toEqual([
      ["next", "Running"],
      ["next", "Running"],
    ]);
    for (const type of [machineDeploymentResource, machineSetResource, machineResource, machineClassResource]) {
      const { items } = await fleet.api.list(type, { namespace: "default" });
      expect(items.length).toBeGreaterThan(0);
      for (const object of items)
        expect([object.metadata.name, await readers.ask({ object })]).toEqual([object.metadata.name, "Current"]);
    }
  });

  it("is failed when the progress deadline is exceeded, and recovers", async () => {
    await fleet.cloud.addFault({ operation: "create", code: "Unavailable", times: 1_000 });
    await apply(manifest("small", { progressDeadlineSeconds: 2 }));
    await eventually(async () => expect(await judge()).toEqual(failed), 60_000);
    await fleet.cloud.clearFaults();
    await eventually(async () => expect(await judge()).toEqual(settled), 90_000);
  });

  it("is failed at once when a deletion waits for an approval, and recovers when it is taken back", async () => {
    await apply(manifest("small", { replicas: 12 }));
    await eventually(async () => expect(await judge()).toEqual(settled), 60_000);
    await apply(manifest("small", { replicas: 0 }));
    await eventually(async () => expect(await judge()).toEqual(failed), 60_000);
    await apply(manifest("small", { replicas: 12 }));
    await eventually(async () => expect(await judge()).toEqual(settled), 60_000);
  });

  it("is in progress while a rollout is paused, and Current for kstatus once the conditions were removed for a hand-back", async () => {
    await apply(manifest("small"));
    await eventually(async () => expect(await judge()).toEqual(settled), 60_000);
    await apply(manifest("next", { paused: true }));
    await eventually(async () => expect(await judge()).toEqual({ ...rolling, argo: "Suspended" }), 60_000);
    await controllers.stop();
    controllers = fleet.runAlone("--no-cluster-api-conditions");
    await eventually(async () => expect(await judge()).toMatchObject({ kstatus: "Current" }), 60_000);
    await controllers.stop();
    // A manager without this condition, such as MCM, keeps what it finds: a later Millwright removes it.
    const conditions = [...((await live()).status?.conditions ?? []), { type: "Reconciling", status: "True" }];
    await fleet.api.patch(
      machineDeploymentResource,
      ref,
      { status: { conditions } },
      { kind: "merge", subresource: "status" },
    );
    controllers = fleet.runAlone();
    await apply(manifest("small"));
    await eventually(async () => expect(await judge()).toEqual(settled), 60_000);
  });
});
