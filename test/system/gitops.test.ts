import { readFileSync } from "node:fs";
import {
  isRecord,
  type MachineDeployment,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core";
import type { KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { hasHealthReaders, startHealthReaders } from "../harness/health-readers.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";

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
beforeEach(async () => {
  fleet = await startControlledFleet();
  await fleet.api.create(machineClassResource, machineClass("next"));
  fleet.runAlone();
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

  /** What Flux and Argo CD find, of the same state. */
  const judge = async () => {
    const object = await live();
    const isNew = object.status?.conditions === undefined;
    const ofFlux = isNew ? "InProgress" : await readers.ask({ object, cel: fluxChecks() });
    return { flux: ofFlux, argo: await readers.ask({ object, lua: argoScript() }) };
  };
  const settled = { flux: "Current", argo: "Healthy" };
  const rolling = { flux: "InProgress", argo: "Progressing" };

  it("is in progress until all machines are new and ready, by the guide's checks for Flux and Argo CD; kstatus finds each object Current at the end", async () => {
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
    await eventually(async () => expect(await judge()).toEqual({ flux: "Failed", argo: "Degraded" }), 60_000);
    await fleet.cloud.clearFaults();
    await eventually(async () => expect(await judge()).toEqual(settled), 90_000);
  });
});
