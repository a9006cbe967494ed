import { readFile, writeFile } from "node:fs/promises";
import { join, dirname } from "node:path";
import {
  crds,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { customResourceDefinitionResource, isNotFound, namespaceResource, secretResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, controllersAgent, startControlledFleet } from "../harness/controlled-fleet.ts";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";
import { grantByClusterRole } from "../harness/grant-roles.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const namespace = "default";
/** Status and text of `/readyz`. */
const readiness = async (port: number): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return `${response.status} ${await response.text()}`;
};
const rbac = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: false };
const clusterRoles = { ...rbac, kind: "ClusterRole", plural: "clusterroles" };
const clusterRoleBindings = { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings" };

const tokens = {
  first: { user: "millwright" },
  second: { user: "millwright" },
};

/** Missing permissions, credentials and kinds under the shipped command. */
describe("millwright run without its prerequisites", () => {
  let fleet: ControlledFleet;
  afterEach(() => fleet.close());

  const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
  /** Gives the user millwright a role with these rules. */
  const grant = async (...rules: readonly object[]): Promise<void> => {
    const metadata = { name: "millwright" };
    await fleet.api.create(clusterRoles, { metadata, rules });
    const roleRef = { apiGroup: rbac.group, kind: "ClusterRole", name: "millwright" };
    const subjects = [{ apiGroup: rbac.group, kind: "User", name: "millwright" }];
    await fleet.api.create(clusterRoleBindings, { metadata, roleRef, subjects });
  };
  /** Path of a kubeconfig of the user millwright, whose text `change` may modify. */
  const kubeconfigOf = async (change: (text: string, folder: string) => string): Promise<string> => {
    const folder = dirname(fleet.kubeconfig);
    const file = join(folder, "millwright.kubeconfig");
    await writeFile(file, change(await readFile(fleet.kubeconfig, "utf8"), folder));
    return file;
  };

  it("names the missing permission, and continues when it is granted", async () => {
    fleet = await startControlledFleet({}, { tokens });
    const most = { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "update", "patch"] };
    const leases = { apiGroups: ["coordination.k8s.io", ""], resources: ["leases", "events"], verbs: ["*"] };
    await grant(most, leases);
    const file = await kubeconfigOf((text) => text.replace("token: root", "token: first"));
    const controllers = fleet.run(`--control-kubeconfig=${file}`);
    await controllers.waitFor(/"Leading"/);
    await fleet.deploy(2);
    await controllers.waitFor(/User \\?"millwright\\?" cannot create resource \\?"machinesets\\?"/);
    const refused = (): number => fleet.requests().filter(({ status }) => status === 403).length;
    const before = refused();
    await pause(3_000);
    expect(refused() - before).toBeLessThan(30);
    // The controllers may list the VMs of the class.
    expect(fleet.cloud.calls.filter(({ operation }) => operation !== "list")).toEqual([]);
    await fleet.api.patch(clusterRoles, { name: "millwright" }, { rules: [everything] }, { kind: "merge" });
    await fleet.untilRunning(2, 90_000);
  });

  it("reads a new token from its file when the old one expires, without an outage", async () => {
    fleet = await startControlledFleet({}, { tokens });
    await grant(everything);
    const file = await kubeconfigOf((text, folder) =>
      text.replace("token: root", `tokenFile: ${join(folder, "token")}`),
    );
    const token = join(dirname(file), "token");
    await writeFile(token, "first");
    const controllers = fleet.run(`--control-kubeconfig=${file}`);
    await fleet.deploy(1);
    await fleet.untilRunning(1);
    await writeFile(token, "second");
    await pause(1_500);
    const old = { headers: { authorization: "Bearer first" } };
    fleet.server.faults.add({ match: old, effect: { kind: "status", code: 401, reason: "Unauthorized" } });
    // Watches that were opened with the old token end, too.
    fleet.server.faults.add({ match: { verbs: ["watch"], ...old }, effect: { kind: "partition" } });
    await fleet.scale(3);
    await fleet.untilRunning(3);
    expect(controllers.child.exitCode).toBeNull();
    expect(fleet.callsOf("create")).toBe(3);
  });

  it("reports missing kinds at start, and starts when their CRDs are created", async () => {
    fleet = await startControlledFleet();
    for (const { metadata } of crds())
      await fleet.api.delete(customResourceDefinitionResource, { name: metadata.name });
    await fleet.api.delete(secretResource, { namespace, name: "cloud" });
    const [port = 0] = await freePorts(1);
    const controllers = fleet.run(`--port=${port}`, "--address=127.0.0.1");
    await controllers.waitFor(
      /"check":"CRDs".*does not serve.*"remedy":"Apply them: .*A prerequisite is not met/,
      40_000,
    );
    await controllers.waitFor(/"kinds":\["machines".*Waiting for the first list of some kinds/, 40_000);
    expect(fleet.cloud.calls).toEqual([]);
    await eventually(async () =>
      expect(await readiness(port)).toMatch(
        /^503 .*control and target cluster: CRDs: .*does not serve.*"millwright crds apply"/s,
      ),
    );
    await eventually(() => fleet.declareKinds());
    await eventually(async () => expect(await readiness(port)).toBe("200 OK"), 90_000);
    const checks = (): number => fleet.requests().filter(({ resource }) => resource.endsWith("reviews")).length;
    const before = checks();
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.deploy(2);
    await fleet.untilRunning(2, 90_000);
    expect(checks()).toBe(before);
  });

  it("names permissions that are missing at start in log and readiness, goes on, and is ready when they are granted", async () => {
    fleet = await startControlledFleet({}, { tokens });
    const [verbs, apiGroups] = [["get", "list", "watch", "create", "update", "patch"], ["*"]];
    await grant({ apiGroups, resources: ["*"], verbs }, { apiGroups, resources: ["leases"], verbs: ["*"] });
    const file = await kubeconfigOf((text) => text.replace("token: root", "token: first"));
    const [port = 0] = await freePorts(1);
    const controllers = fleet.run(`--control-kubeconfig=${file}`, `--port=${port}`, "--address=127.0.0.1");
    await controllers.waitFor(
      /"because":"Not allowed in the whole cluster: delete; .*"remedy":"Grant it: .*A prerequisite/,
    );
    await fleet.deploy(1);
    await fleet.untilRunning(1);
    // Another thread answers, with a state that is up to a second old.
    await eventually(async () =>
      expect(await readiness(port)).toMatch(/^503 .*Permission nodes: Not allowed in the whole cluster: delete; /s),
    );
    await fleet.api.patch(clusterRoles, { name: "millwright" }, { rules: [everything] }, { kind: "merge" });
    await controllers.waitFor(/The prerequisites of a cluster are met/, 90_000);
    await eventually(async () => expect(await readiness(port)).toBe("200 OK"));
  });

  it("keeps every VM while its kinds are not served, reports them without a hot loop, and continues when they are back", async () => {
    fleet = await startControlledFleet();
    const controllers = fleet.run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    const resources = crds().map(({ spec }) => spec.names.plural);
    const match = { resources, userAgent: controllersAgent };
    fleet.server.faults.add({ match, effect: { kind: "status", code: 404, reason: "NotFound" } });
    fleet.server.faults.add({ match: { ...match, verbs: ["watch"] }, effect: { kind: "partition" } }).remove();
    await controllers.waitFor(
      /"machines\.machine\.sapcloud\.io".*404.*A list or watch failed and will be retried/,
      40_000,
    );
    const refused = (): number => fleet.requests().filter(({ status }) => status === 404).length;
    const before = refused();
    await pause(5_000);
    // Four kinds, each with a backoff from 0.8 s on.
    expect(refused() - before).toBeLessThan(40);
    expect(fleet.callsOf("delete")).toBe(0);
    expect(controllers.child.exitCode).toBeNull();
    fleet.server.faults.clear();
    await fleet.scale(3);
    await fleet.untilRunning(3);
    expect(fleet.callsOf("create")).toBe(3);
    expect(fleet.callsOf("delete")).toBe(0);
  });

  it("creates nothing in a terminating namespace, which loses its Role and its Leases, and completes its deletions as the documents have it", async () => {
    // No VM is gone before the lease of the leader has ended, whose Role was deleted.
    fleet = await startControlledFleet({ deleteDelayMs: 12_000 });
    const name = "ending";
    await fleet.api.create(namespaceResource, { metadata: { name } });
    await fleet.grantNamespace(name);
    const secret = await fleet.api.get(secretResource, { namespace, name: "cloud" });
    await fleet.api.create(secretResource, { metadata: { name: "cloud", namespace: name }, data: secret["data"] });
    const small = machineClass("small");
    await fleet.api.create(machineClassResource, {
      ...small,
      metadata: { name: "small", namespace: name },
      secretRef: { name: "cloud", namespace: name },
    });
    const first = fleet.run(`--namespace=${name}`);
    const deployment = machineDeployment("fleet", "small", 3);
    await fleet.api.create(machineDeploymentResource, { ...deployment, metadata: { name: "fleet", namespace: name } });
    await eventually(async () => {
      const { items } = await fleet.api.list<Machine>(machineResource, { namespace: name });
      expect(items.map(phaseOf)).toEqual(["Running", "Running", "Running"]);
    }, 40_000);
    await fleet.api.delete(namespaceResource, { name });
    // The namespace controller deletes the Role of the controllers, too, and a terminating namespace gets no new one.
    fleet.expectForbidden(/\/namespaces\/ending\//);
    expect(await first.ended).toBe(1);
    await grantByClusterRole(fleet.api, name);
    const second = fleet.run(`--namespace=${name}`);
    await second.waitFor(/"remedy":"The last leader goes on\. If it has ended, .*--leader-elect=false.*"Cannot lead: /);
    expect(second.output()).not.toContain('"Leading"');
    await second.stop("SIGKILL");

    fleet.run(`--namespace=${name}`, "--leader-elect=false");
    await eventually(async () => {
      const gone = await fleet.api.get(namespaceResource, { name }).then(() => false, isNotFound);
      expect(gone).toBe(true);
    }, 90_000);
    expect(fleet.cloud.vms()).toEqual([]);
    expect(fleet.callsOf("create")).toBe(3);
  });

  it("leaves a machine with the finalizer of another controller, without a hot loop", async () => {
    fleet = await startControlledFleet();
    fleet.run();
    await fleet.deploy(1);
    await fleet.untilRunning(1);
    const [machine] = await fleet.machines();
    const ref = { namespace, name: machine?.metadata.name ?? "" };
    const finalizers = [...(machine?.metadata.finalizers ?? []), "example.com/hold"];
    await fleet.api.patch(machineResource, ref, { metadata: { finalizers } }, { kind: "merge" });
    await fleet.api.delete(machineDeploymentResource, { namespace, name: "fleet" });
    await eventually(async () => {
      expect((await fleet.machines()).map(({ metadata }) => metadata.finalizers)).toEqual([["example.com/hold"]]);
    }, 40_000);
    expect(fleet.cloud.vms()).toEqual([]);
    const asked = (): number =>
      fleet.requests().filter(({ resource, verb }) => resource.startsWith("machine") && verb !== "watch").length;
    const before = asked();
    await pause(4_000);
    expect(asked() - before).toBeLessThan(12);
    await fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
    await fleet.untilGone();
    await eventually(async () => {
      expect((await fleet.api.list(machineDeploymentResource, { namespace })).items).toEqual([]);
    });
  });

  it("sends its own user agent, by which these tests identify its requests", async () => {
    fleet = await startControlledFleet();
    fleet.run();
    await fleet.deploy(1);
    await fleet.untilRunning(1);
    const agents = new Set(fleet.requests().map(({ userAgent }) => userAgent));
    expect(
      [...agents].every((agent) => agent.startsWith(controllersAgent)),
      [...agents].join(),
    ).toBe(true);
    expect(fleet.requests().length).toBeGreaterThan(5);
  });
});
