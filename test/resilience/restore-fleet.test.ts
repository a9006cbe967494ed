import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotationKeys,
  finalizers,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { controllerRefOf, ignoreNotFound, type KubeObject, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const kinds = [machineDeploymentResource, machineSetResource, machineResource] as const;

/** `millwright export` and `millwright restore`, beside running controllers, after all objects were lost. */
describe("a fleet whose objects are lost and restored from an export", () => {
  let fleet: ControlledFleet;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-restore-"));
    fleet = await startControlledFleet();
  });
  afterEach(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (...words: readonly string[]): MillwrightProcess =>
    startMillwright(words, { KUBECONFIG: fleet.kubeconfig });
  const millwright = async (status: number, ...words: readonly string[]): Promise<string> => {
    const command = start(...words);
    expect(await command.ended, command.output()).toBe(status);
    return command.output();
  };
  const writes = (): number =>
    fleet.requests().filter(({ verb, resource }) => !["watch", "list", "get"].includes(verb) && resource !== "leases")
      .length;
  const expectKept = async (before: readonly unknown[]): Promise<void> => {
    await fleet.untilRunning(before.length);
    await untilQuiet(writes);
    expect(vmsOf(await fleet.machines())).toEqual(before);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([before.length, 0]);
    for (const [type, owner] of [
      [machineSetResource, machineDeploymentResource],
      [machineResource, machineSetResource],
    ] as const) {
      const owners = (await fleet.api.list(owner, { namespace })).items.map(({ metadata }) => metadata.uid);
      for (const object of (await fleet.api.list(type, { namespace })).items) {
        expect(owners).toContain(controllerRefOf(object)?.uid);
        expect(object.metadata.annotations).not.toHaveProperty([annotationKeys.expectedReplicas]);
      }
    }
  };
  /** Deletes all machines and their owners, without their VMs: no controllers run. */
  const wipe = async (): Promise<void> => {
    for (const type of kinds)
      for (const { metadata } of (await fleet.api.list(type, { namespace })).items) {
        const ref = { namespace, name: metadata.name ?? "" };
        await ignoreNotFound(fleet.api.patch(type, ref, { metadata: { finalizers: null } }, { kind: "merge" }));
        await ignoreNotFound(fleet.api.delete(type, ref));
      }
    await eventually(async () => expect(await fleet.machines()).toEqual([]));
  };
  /** A fleet whose export is in a file, and an API server that has nothing of it. */
  const lose = async (replicas: number, read: (file: string) => Promise<unknown>): Promise<readonly unknown[]> => {
    const first = fleet.run();
    await fleet.deploy(replicas);
    await fleet.untilRunning(replicas);
    await untilQuiet(writes);
    const before = vmsOf(await fleet.machines());
    await read(join(folder, "fleet.yaml"));
    await first.stop("SIGKILL");
    await wipe();
    return before;
  };
  const rawExport = async (file: string): Promise<void> => {
    const lists = await Promise.all(
      [machineClassResource, ...kinds].map((type) => fleet.api.list(type, { namespace })),
    );
    const items = lists.flatMap((list): readonly KubeObject[] => list.items);
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  };

  it.each([
    [6, "millwright export", (file: string) => millwright(0, "export", "--file", file)],
    [14, "kubectl get -o json", rawExport],
  ])("keeps all VMs of %i machines, from an export by %s", async (replicas, _, read) => {
    const before = await lose(replicas, read);
    const file = join(folder, "fleet.yaml");
    const process = fleet.run();
    await untilQuiet(writes);
    const planned = await millwright(0, "restore", file, "--dry-run");
    expect(planned.match(/^Would create Machine .*, VM mock:/gm)).toHaveLength(replicas);
    expect(await fleet.machines()).toEqual([]);
    const done = await millwright(0, "restore", file);
    expect(done.match(/^Created Machine /gm)).toHaveLength(replicas);
    await expectKept(before);
    expect(await millwright(0, "restore", file)).not.toMatch(/^Created/m);
    expect(process.child.exitCode).toBeNull();
  });

  it("keeps the size of a pool for a cluster autoscaler, from an export that lacks it", async () => {
    const ref = { namespace, name: "fleet" };
    const file = join(folder, "fleet.yaml");
    const before = await lose(6, async () => {
      const annotations = { [annotationKeys.autoscalerMinSize]: "2", [annotationKeys.autoscalerMaxSize]: "10" };
      await fleet.api.patch(machineDeploymentResource, ref, { metadata: { annotations } }, { kind: "merge" });
      await millwright(0, "export", "--file", file);
      const documents = parseAllDocuments(await readFile(file, "utf8"));
      const lacking = documents.filter(
        (each) => each.get("kind") === "MachineDeployment" && each.deleteIn(["spec", "replicas"]),
      );
      expect(lacking).toHaveLength(1);
      await writeFile(file, documents.map((each) => each.toString({ directives: true })).join(""));
    });
    fleet.run();
    await untilQuiet(writes);
    await millwright(0, "restore", file);
    await expectKept(before);
    const { spec } = await fleet.api.get<MachineDeployment>(machineDeploymentResource, ref);
    expect(spec.replicas).toBe(6);
  });

  it("scales a deployment that a GitOps tool has created again with fewer replicas, and deletes nothing", async () => {
    const before = await lose(6, (file) => millwright(0, "export", "--file", file));
    await fleet.deploy(2);
    fleet.run();
    await eventually(async () => expect((await fleet.machines()).map(phaseOf)).toEqual(["Running", "Running"]));
    await untilQuiet(writes);
    const file = join(folder, "fleet.yaml");
    const scaled = /^(?:Would scale|Scaled) MachineDeployment fleet: from 2 to 8 replicas; /m;
    expect(await millwright(0, "restore", file, "--dry-run")).toMatch(scaled);
    expect(await millwright(0, "restore", file)).toMatch(scaled);
    await fleet.untilRunning(8);
    await untilQuiet(writes);
    expect(vmsOf(await fleet.machines())).toEqual(expect.arrayContaining([...before]));
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([8, 0]);
  });

  it("finishes after it was killed at any write, with controllers that run", async () => {
    const before = await lose(6, (file) => millwright(0, "export", "--secrets", "--file", file));
    fleet.run();
    const file = join(folder, "fleet.yaml");
    const created = (): number =>
      fleet.server.requests.filter(
        ({ verb, resource, userAgent }) => verb === "create" && resource === "machines" && userAgent === "millwright",
      ).length;
    for (let kills = 1; kills <= 6; kills++) {
      const restore = start("restore", file);
      await Promise.race([eventually(async () => expect(created()).toBeGreaterThanOrEqual(kills)), restore.ended]);
      await restore.stop("SIGKILL");
      await untilQuiet(writes);
      expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([before.length, 0]);
    }
    await millwright(0, "restore", file);
    await expectKept(before);
  });

  it("creates again what was deleted and is held, with the same VMs", async () => {
    fleet.run();
    await fleet.deploy(14);
    await fleet.untilRunning(14);
    await untilQuiet(writes);
    const before = vmsOf(await fleet.machines());
    const file = join(folder, "fleet.yaml");
    await millwright(0, "export", "--file", file);
    await fleet.api.delete(machineDeploymentResource, { namespace, name: "fleet" });
    await eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
      expect(texts.filter((text) => text.startsWith("Deletion held"))).toHaveLength(14);
    }, 90_000);
    expect(await millwright(0, "restore", file)).toContain("Created again MachineDeployment fleet");
    await expectKept(before);
  });

  it("leaves out a machine whose VM does not exist, and creates none by a list that lacks most VMs", async () => {
    const before = await lose(3, (file) => millwright(0, "export", "--file", file));
    const file = join(folder, "fleet.yaml");
    const deleteVms = async (ids: readonly string[], left: number): Promise<void> => {
      for (const id of ids) await fleet.cloud.deleteVm(id);
      await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(left));
    };
    const [gone, ...others] = fleet.cloud.vms();
    await deleteVms([gone?.id ?? ""], 2);
    const partial = await millwright(3, "restore", file, "--dry-run");
    expect(partial).toContain(`Would leave out Machine ${gone?.name}: its VM ${gone?.providerId} does not exist`);
    await deleteVms(
      others.map(({ id }) => id),
      0,
    );
    const refused = await millwright(1, "restore", file);
    expect(refused).toContain("MachineClass small: the cloud lists 0 of the 3 VMs of its machines");
    expect(await fleet.machines()).toEqual([]);
    await millwright(0, "restore", file, "--without-cloud-check");
    expect(vmsOf(await fleet.machines())).toEqual(before);
  });

  it("exports no approval and no Secret that was not asked for, and what protects a machine", async () => {
    fleet.run();
    await fleet.deploy(1);
    await fleet.untilRunning(1);
    await millwright(0, "approve", "deployment", "fleet", "--for=5m");
    const { items } = JSON.parse(await millwright(0, "export", "-o", "json")) as { items: readonly KubeObject[] };
    expect(items.map(({ kind }) => kind)).toEqual(["MachineClass", "MachineSet", "Machine", "MachineDeployment"]);
    for (const { metadata, ...rest } of items) {
      expect(Object.keys(rest)).not.toContain("status");
      expect(metadata).not.toHaveProperty("uid");
      expect(metadata).not.toHaveProperty("ownerReferences");
      expect(metadata.annotations ?? {}).not.toHaveProperty([annotationKeys.approveDeletions]);
    }
    expect(items[2]?.metadata.finalizers).toContain(finalizers.machine);
    expect(items[1]?.metadata.annotations).toHaveProperty([annotationKeys.expectedReplicas], "1");
    const withSecrets = await millwright(0, "export", "--secrets");
    expect(withSecrets).toContain("The export has credentials and user data: encrypt it");
    const { data } = await fleet.api.get<KubeObject & { data?: Record<string, string> }>(secretResource, {
      namespace,
      name: "cloud",
    });
    expect(withSecrets).toContain(Object.values(data ?? {})[0]);
  });
});
