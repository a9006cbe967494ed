import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResourceType } from "@millwright/base";
import {
  annotationKeys,
  crds,
  deletionsHeldConditionType,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import { type ApiClient, createApiClient, customResourceDefinitionResource, loadKubeConfig } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../main.ts";

const namespace = "default";
const template = { metadata: { labels: { a: "b" } }, spec: { class: { kind: "MachineClass", name: "small" } } };
const spec = { replicas: 1, selector: { matchLabels: { a: "b" } }, template };
const held = { type: deletionsHeldConditionType, status: "True", message: "Deletion of 60 machines is held" };

describe("millwright approve", () => {
  let folder: string;
  let server: ApiServer;
  let api: ApiClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "approve-"));
    server = createApiServer();
    const { url } = await server.listen();
    await writeFile(join(folder, "kubeconfig"), kubeconfigFor(url));
    api = createApiClient(await loadKubeConfig({ file: join(folder, "kubeconfig") }), { userAgent: "test" });
    for (const crd of crds())
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    for (const name of ["one", "two"])
      await api.create(machineDeploymentResource, { metadata: { name, namespace }, spec });
    for (const name of ["alone", "quiet"])
      await api.create(machineSetResource, { metadata: { name, namespace }, spec });
    await api.create(machineResource, {
      metadata: { name: "m", namespace, finalizers: ["example.com/kept"] },
      spec: { class: template.spec.class },
    });
    await setStatus(machineDeploymentResource, "one", { conditions: [held] });
    await setStatus(machineSetResource, "alone", { machineSetCondition: [held] });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await api.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const setStatus = (type: ResourceType, name: string, status: object): Promise<unknown> =>
    api.patch(type, { namespace, name }, { status }, { kind: "merge", subresource: "status" });
  const millwright = async (...args: readonly string[]) => {
    let out = "";
    let err = "";
    vi.spyOn(process.stdout, "write").mockImplementation((text) => ((out += String(text)), true));
    vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true));
    const status = await main(["approve", ...args, "--control-kubeconfig", join(folder, "kubeconfig")]);
    vi.restoreAllMocks();
    return { status, out, err };
  };
  const approvalOf = async (type: ResourceType, name: string): Promise<string | undefined> =>
    (await api.get(type, { namespace, name })).metadata.annotations?.[annotationKeys.approveDeletions];

  /** Shows on an object that so many of its machines are held, as the controllers do. */
  const hold = async (type: ResourceType, name: string, work: string, count: number): Promise<void> => {
    const { metadata } = await api.get(type, { namespace, name });
    const message = `Deletion of ${count} machines is held. To approve, set annotation x to ${work}=${count},generation=${metadata.generation},uid=${metadata.uid?.slice(0, 8)}`;
    const conditions = [{ ...held, message }];
    await setStatus(type, name, type === machineSetResource ? { machineSetCondition: conditions } : { conditions });
  };
  const valueWithoutUntil = async (type: ResourceType, name: string): Promise<string> => {
    const { metadata } = await api.get(type, { namespace, name });
    const value = metadata.annotations?.[annotationKeys.approveDeletions] ?? "";
    const uid = metadata.uid?.slice(0, 8) ?? "";
    return value.replace(/,until=[^,]*/, "").replace(uid, "UID");
  };
  const untilOf = async (type: ResourceType, name: string): Promise<number> =>
    Date.parse(/until=([^,]*)/.exec((await approvalOf(type, name)) ?? "")?.[1] ?? "");

  it("approves what is held of one deployment, and prints it", async () => {
    await hold(machineDeploymentResource, "one", "deletions", 60);
    const { status, out } = await millwright("deployment", "one");
    expect(status).toBe(0);
    expect(out).toMatch(
      /^Approved the deletion of 60 machines of MachineDeployment one and nothing that follows; it ends with them, or at .*Z\.\n {2}Deletion of 60 machines is held/,
    );
    expect(await valueWithoutUntil(machineDeploymentResource, "one")).toBe("deletions=60,generation=1,uid=UID");
    const hour = 3_600_000;
    expect((await untilOf(machineDeploymentResource, "one")) - Date.now()).toBeLessThanOrEqual(hour + 1_000);
    expect(await millwright("deployment", "one", "--at-a-time", "3")).toMatchObject({
      out: expect.stringContaining("  At most 3 are deleted, or not replaced yet, at a time.\n"),
    });
    expect(await valueWithoutUntil(machineDeploymentResource, "one")).toBe(
      "deletions=60,generation=1,at-a-time=3,uid=UID",
    );
    expect((await untilOf(machineDeploymentResource, "one")) - Date.now()).toBeGreaterThan(23 * hour);
  });

  it("counts what was approved before, and gives no pace to a creation", async () => {
    const used = { metadata: { annotations: { [annotationKeys.usedApprovals]: "generation=1,count=50" } } };
    await api.patch(machineDeploymentResource, { namespace, name: "one" }, used, { kind: "merge" });
    await hold(machineDeploymentResource, "one", "creations", 51);
    const { out } = await millwright("deployment", "one", "--at-a-time", "3");
    expect(out).toMatch(/^Approved the creation of 1 machine of MachineDeployment one/);
    expect(await valueWithoutUntil(machineDeploymentResource, "one")).toBe("creations=51,generation=1,uid=UID");
  });

  it("approves no more than was expected, and nothing of another spec", async () => {
    await hold(machineDeploymentResource, "one", "deletions", 60);
    const more = await millwright("deployment", "one", "--at-most", "15");
    expect(more).toMatchObject({
      status: 1,
      err: expect.stringContaining("60 machines of MachineDeployment one are held"),
    });
    await api.patch(
      machineDeploymentResource,
      { namespace, name: "one" },
      { spec: { replicas: 0 } },
      { kind: "merge" },
    );
    const changed = await millwright("deployment", "one", "--at-most", "60");
    expect(changed).toMatchObject({ status: 1, err: expect.stringContaining("has changed") });
    expect(await approvalOf(machineDeploymentResource, "one")).toBeUndefined();
  });

  it("approves in advance only for a time, also where older controllers hold", async () => {
    const { status, err } = await millwright("deployment", "two");
    expect({ status, err }).toEqual({
      status: 1,
      err: expect.stringContaining("nothing of MachineDeployment two is held"),
    });
    expect(err).toContain("--for 1h");
    expect((await millwright("deployment", "one")).err).toContain("older version");
    const { out } = await millwright("deployment", "two", "--for", "5m");
    expect(out).toMatch(/^Approved all deletions of MachineDeployment two until .*Z\.\n {2}None are held/);
    const until = Date.parse((await approvalOf(machineDeploymentResource, "two")) ?? "");
    expect(until - Date.now()).toBeLessThanOrEqual(301_000);
  });

  it("approves a set by what its deployment would approve", async () => {
    const message = "Deletion of 5 machines is held: set x to deletions=5,generation=9,uid=ffffffff";
    await setStatus(machineSetResource, "alone", { machineSetCondition: [{ ...held, message }] });
    await millwright("set", "alone");
    expect(await valueWithoutUntil(machineSetResource, "alone")).toBe("deletions=5,generation=1,uid=UID");
  });

  it("approves machines of an owner that a rate holds", async () => {
    const { metadata } = await api.get(machineSetResource, { namespace, name: "quiet" });
    const { apiVersion = "", kind = "" } = await api.get(machineSetResource, { namespace, name: "quiet" });
    const owner = { apiVersion, kind, name: "quiet", uid: metadata.uid ?? "", controller: true };
    const patch = { metadata: { ownerReferences: [owner] } };
    await api.patch(machineResource, { namespace, name: "m" }, patch, { kind: "merge" });
    await api.delete(machineResource, { namespace, name: "m" });
    await setStatus(machineResource, "m", {
      lastOperation: { type: "Delete", description: "Deletion held: MachineClass small is limited" },
    });
    const { out } = await millwright("set", "quiet");
    expect(out).toMatch(/^Approved the deletion of 1 machine of MachineSet quiet/);
    expect(await valueWithoutUntil(machineSetResource, "quiet")).toMatch(/^requests=1,before=[^,]*Z,uid=UID$/);
  });

  it("approves all that is held, and nothing else", async () => {
    await hold(machineDeploymentResource, "one", "deletions", 60);
    await hold(machineSetResource, "alone", "deletions", 12);
    await api.delete(machineResource, { namespace, name: "m" });
    const description = "Deletion held for approval: too many machines";
    await setStatus(machineResource, "m", { lastOperation: { type: "Delete", description } });
    const { out } = await millwright("--all", "-o", "json");
    const { approved } = JSON.parse(out);
    expect(approved.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)).toEqual([
      "MachineDeployment one",
      "MachineSet alone",
      "Machine m",
    ]);
    expect(await valueWithoutUntil(machineResource, "m")).toBe("requests=1,uid=UID");
    expect(await approvalOf(machineDeploymentResource, "two")).toBeUndefined();
    expect(await approvalOf(machineSetResource, "quiet")).toBeUndefined();
    expect((await millwright("machine", "m")).out).toMatch(/^Approved the deletion of Machine m and nothing/);
  });

  it("changes nothing in a dry run, and names the command that approves no more", async () => {
    await hold(machineDeploymentResource, "one", "deletions", 60);
    await hold(machineSetResource, "alone", "deletions", 12);
    const { status, out } = await millwright("--all", "--dry-run");
    expect(status).toBe(0);
    expect(out).toContain("Would approve the deletion of 12 machines of MachineSet alone");
    expect(out).toContain("To approve no more than this: millwright approve set alone --at-most 12\n");
    expect(await approvalOf(machineSetResource, "alone")).toBeUndefined();
  });

  it("approves nothing where nothing is held", async () => {
    await setStatus(machineDeploymentResource, "one", { conditions: [] });
    await setStatus(machineSetResource, "alone", { machineSetCondition: [] });
    expect(await millwright("--all")).toMatchObject({
      status: 0,
      out: "No deletions are held in namespace default.\n",
    });
  });

  it.each([
    [["deployment", "none"], 1, 'there is no MachineDeployment "none"'],
    [["deployment"], 2, "name one object"],
    [["deployment", "one", "--all"], 2, "name one object"],
    [[], 2, "name one object"],
    [["deployment", "one", "--for", "1h", "--at-a-time", "3"], 2, "--for approves everything"],
    [["deployment", "one", "--for", "1h", "--at-most", "3"], 2, "--for approves everything"],
    [["machine", "m", "--at-a-time", "3"], 2, "approve the deployment or the set"],
  ])("rejects %j with status %i", async (args, expected, message) => {
    const { status, err } = await millwright(...args);
    expect(status).toBe(expected);
    expect(err).toContain(message);
  });

  it("rejects kinds and durations that do not exist with status 2", async () => {
    expect(await millwright("node", "n")).toMatchObject({ status: 2 });
    expect(await millwright("--all", "--for", "tomorrow")).toMatchObject({ status: 2 });
    expect(await millwright("--all", "--at-a-time", "0")).toMatchObject({ status: 2 });
  });
});
