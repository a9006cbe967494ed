import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { annotationKeys, type MachineDeployment, machineDeploymentResource } from "@millwright/core/machine-api";
import { eventResource, type KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineDeployment } from "../harness/installation.ts";

const namespace = "default";
const limits = { [annotationKeys.autoscalerMinSize]: "2", [annotationKeys.autoscalerMaxSize]: "6" };

let fleet: ControlledFleet;
let folder: string;
let kubectl: ForeignTool;
beforeEach(async () => {
  fleet = await startControlledFleet();
  folder = await mkdtemp(join(tmpdir(), "size-"));
  kubectl = await createKubectl(fleet.kubeconfig);
});
afterEach(async () => {
  await fleet.close();
  await rm(folder, { recursive: true, force: true });
});

/** A manifest as Git has it. */
async function manifest(annotations: Readonly<Record<string, string>>, replicas?: number): Promise<string> {
  const { metadata, spec, ...rest } = machineDeployment("fleet", "small", 0);
  const { replicas: _, ...sizeless } = Object(spec);
  const object = {
    ...rest,
    metadata: { ...metadata, annotations },
    spec: { ...sizeless, ...(replicas === undefined ? {} : { replicas }) },
  };
  const file = join(folder, "fleet.json");
  await writeFile(file, JSON.stringify(object));
  return file;
}
const apply = async (file: string, ...flags: readonly string[]): Promise<unknown> =>
  kubectl(["apply", ...flags, "-f", file]);
const deployment = (): Promise<MachineDeployment> =>
  fleet.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name: "fleet" });
const uids = async () => new Set((await fleet.machines()).map(({ metadata }) => metadata.uid));

it.each([
  ["client-side apply", []],
  ["server-side apply", ["--server-side", "--force-conflicts"]],
] as const)(
  "a pool for an autoscaler begins with its minimum, and keeps its size when the manifest leaves it out by %s",
  async (_, flags) => {
    await apply(await manifest(limits), ...flags);
    const run = fleet.run();
    await fleet.untilRunning(2);
    expect((await deployment()).spec.replicas).toBe(2);

    // A person sets the size in the manifest, and takes it out again, as the guides for autoscalers advise.
    await apply(await manifest(limits, 5), ...flags);
    await fleet.untilRunning(5);
    const before = await uids();
    for (let times = 0; times < 3; times++) {
      await apply(await manifest({ ...limits, "example.com/commit": String(times) }), ...flags);
      await eventually(async () => expect((await deployment()).spec.replicas).toBe(5));
    }
    await eventually(async () => {
      const { metadata, status } = await deployment();
      expect(status?.observedGeneration).toBe(metadata.generation);
    });
    await fleet.untilRunning(5);
    expect(await uids()).toEqual(before);
    expect(fleet.callsOf("delete")).toBe(0);
    await run.stop("SIGTERM");
  },
);

it.each([
  ["a condition and an event", [], "WaitingForReplicasSet"],
  ["an event, where there are no conditions", ["--no-cluster-api-conditions"], undefined],
] as const)("without size annotations it counts as 0 as in MCM, with %s", async (_, flags, reason) => {
  await apply(await manifest({}, 2));
  fleet.run(...flags);
  await fleet.untilRunning(2);
  await apply(await manifest({}));
  await eventually(async () => {
    const { status } = await deployment();
    expect(status?.conditions?.find(({ type }) => type === "ScalingUp")?.reason).toBe(reason);
  });
  await eventually(async () => {
    const { items } = await fleet.api.list<KubeObject & { readonly reason?: string; readonly message?: string }>(
      eventResource,
      { namespace },
    );
    const warnings = items.filter(({ reason }) => reason === "WaitingForReplicasSet");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain(annotationKeys.autoscalerMaxSize);
  });
  await fleet.untilGone();
});
