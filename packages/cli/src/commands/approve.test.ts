import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotationKeys,
  crds,
  deletionsHeldConditionType,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type ResourceType,
} from "@millwright/core";
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

  it("approves one deployment for an hour, and prints what it held", async () => {
    const before = Date.now();
    const { status, out } = await millwright("deployment", "one");
    expect(status).toBe(0);
    expect(out).toMatch(
      /^Approved deletions of MachineDeployment one until .*Z\.\n {2}Deletion of 60 machines is held\n$/,
    );
    const until = Date.parse((await approvalOf(machineDeploymentResource, "one")) ?? "");
    expect(until - before).toBeGreaterThan(3_600_000 - 2_000);
    expect(until - Date.now()).toBeLessThanOrEqual(3_600_000 + 1_000);
  });

  it("approves in advance, for any time", async () => {
    const { out } = await millwright("deployment", "two", "--for", "5m");
    expect(out).toContain("None are held at the moment.");
    const until = Date.parse((await approvalOf(machineDeploymentResource, "two")) ?? "");
    expect(until - Date.now()).toBeLessThanOrEqual(301_000);
  });

  it("approves all that is held, and nothing else", async () => {
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
    expect(await approvalOf(machineResource, "m")).toBeDefined();
    expect(await approvalOf(machineDeploymentResource, "two")).toBeUndefined();
    expect(await approvalOf(machineSetResource, "quiet")).toBeUndefined();
  });

  it("changes nothing in a dry run", async () => {
    const { status, out } = await millwright("--all", "--dry-run");
    expect(status).toBe(0);
    expect(out).toContain("Would approve deletions of MachineSet alone");
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
  ])("rejects %j with status %i", async (args, expected, message) => {
    const { status, err } = await millwright(...args);
    expect(status).toBe(expected);
    expect(err).toContain(message);
  });

  it("rejects kinds and durations that do not exist with status 2", async () => {
    expect(await millwright("node", "n")).toMatchObject({ status: 2 });
    expect(await millwright("--all", "--for", "tomorrow")).toMatchObject({ status: 2 });
  });
});
