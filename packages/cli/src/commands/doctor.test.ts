import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import {
  crds,
  machineClassResource,
  machineDeploymentResource,
  machineSetResource,
  requiredRoles,
  type PermissionsRole,
} from "@millwright/core/machine-api";
import { type ApiServer, createApiServer, kubeconfigFor } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  loadKubeConfig,
  namespaceResource,
  secretResource,
} from "@millwright/kube";
import {
  type CloudServer,
  createCloudServer,
  createSimulatedCloud,
  type SimulatedCloud,
} from "@millwright/provider-mock";
import type { Diagnosis } from "@millwright/runtime";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { main } from "../main.ts";

const namespace = "shop";
const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const resources = {
  Role: { ...rbac, kind: "Role", plural: "roles", namespaced: true },
  ClusterRole: { ...rbac, kind: "ClusterRole", plural: "clusterroles", namespaced: false },
  RoleBinding: { ...rbac, kind: "RoleBinding", plural: "rolebindings", namespaced: true },
  ClusterRoleBinding: { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false },
};
const tokens = {
  root: { user: "root", groups: ["system:masters"] },
  controllers: { user: "controllers" },
  kubelets: { user: "kubelets" },
};

// Each run of the command listens for signals until its process ends; here all runs have one process.
process.setMaxListeners(100);

/** Every test has an API server with RBAC, a user who has the permissions of the controllers and nothing else, a simulated cloud and a class. */
describe("millwright doctor", () => {
  let folder: string;
  let server: ApiServer;
  let url: string;
  let api: ApiClient;
  let cloud: SimulatedCloud;
  let cloudServer: CloudServer;

  const kubeconfigOf = async (token: string, server = url): Promise<string> => {
    const file = join(folder, `kubeconfig-${token}`);
    await writeFile(file, kubeconfigFor(server, { token }));
    return file;
  };
  const grant = async (user: string, roles: readonly PermissionsRole[]): Promise<void> => {
    for (const role of roles) {
      const binding = resources[`${role.kind}Binding`];
      await api.create(resources[role.kind], role);
      await api.create(binding, {
        metadata: role.metadata,
        roleRef: { apiGroup: rbac.group, kind: role.kind, name: role.metadata.name },
        subjects: [{ apiGroup: rbac.group, kind: "User", name: user }],
      });
    }
  };
  const declareClass = (name: string, change: object = {}) =>
    api.create(machineClassResource, {
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "MachineClass",
      metadata: { name, namespace },
      provider: "mock",
      providerSpec: { machineType: "small" },
      secretRef: { name: "cloud", namespace },
      ...change,
    });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "doctor-"));
    server = createApiServer({ tokens, authorization: "RBAC" });
    ({ url } = await server.listen());
    api = createApiClient(await loadKubeConfig({ file: await kubeconfigOf("root") }), { userAgent: "test" });
    for (const crd of crds())
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    await api.create(namespaceResource, { metadata: { name: namespace } });
    await grant("controllers", requiredRoles("control", namespace));
    await grant("controllers", requiredRoles("target", namespace));
    cloud = createSimulatedCloud({ clock: systemClock });
    cloudServer = createCloudServer(cloud);
    const { url: endpoint } = await cloudServer.listen();
    const data = { endpoint: btoa(endpoint), token: btoa("tok-e2n"), userData: btoa("boot") };
    await api.create(secretResource, { metadata: { name: "cloud", namespace }, data });
    await declareClass("small");
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await api.close();
    await cloudServer.close();
    cloud.close();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const run = async (...args: readonly string[]) => {
    const printed: string[] = [];
    const errors: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
    vi.spyOn(process.stderr, "write").mockImplementation((text) => errors.push(String(text)) > 0);
    const status = await main([...args]);
    vi.restoreAllMocks();
    return { status, output: printed.join(""), errors: errors.join("") };
  };
  const doctor = async (...args: readonly string[]) =>
    run("doctor", "-n", namespace, "--control-kubeconfig", await kubeconfigOf("controllers"), ...args);
  /** Status, and the lines that are not ok. */
  const findings = async (...args: readonly string[]) => {
    const { status, output } = await doctor("-o", "json", ...args);
    const { subjects } = parse(output) as Diagnosis;
    const lines = subjects.flatMap(({ subject, checks }) =>
      checks
        .filter((check) => check.status !== "ok")
        .map(({ name, status, message }) => `${subject}: ${status} ${name}: ${message}`),
    );
    return { status, lines };
  };
  const quota = "MachineClass small: skipped Quota: This cloud reports its quota only when a VM is created.";

  it("finds nothing wrong with the permissions of the printed roles, and writes nothing", async () => {
    const before = server.requests.length;
    const { status, output } = await doctor();
    expect(output).toMatch(
      /^Control and target cluster:\n {2}ok {7}API server: It answers with v\S+ to user "controllers"\.\n {2}ok {7}Clock: .*\n {2}ok {7}CRDs: .*\n {2}ok {7}Permissions: All \d\d permissions/,
    );
    expect(output).toContain("MachineClass small:\n  ok       MachineClass: ");
    expect(output).toMatch(/Namespace shop: 9 checks: 1 skipped\.\n$/);
    expect(status).toBe(0);
    for (const line of output.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const verbs = server.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource ?? ""}`);
    expect(verbs.filter((each) => !/^(get|list|create self\w+reviews?)\b/.test(each))).toEqual([]);
    expect(cloud.calls.map(({ operation }) => operation)).toEqual(["list"]);
  });

  it("prints the same as JSON", async () => {
    expect(await findings()).toEqual({ status: 0, lines: [quota] });
  });

  it("names a namespace that does not exist, with the remedy", async () => {
    const { status, output } = await run("doctor", "-n", "nope", "--control-kubeconfig", await kubeconfigOf("root"));
    expect(output).toContain("FAILED   Namespace: Namespace nope does not exist.");
    expect(output).toContain('Create it: "kubectl create namespace nope"');
    expect(status).toBe(1);
    const found = await run("doctor", "-n", namespace, "--control-kubeconfig", await kubeconfigOf("root"));
    expect(found.output).toContain(`ok       Namespace: Namespace ${namespace} exists.`);
  });

  it("reports that the namespace is being deleted, and how its machines are deleted without a leader", async () => {
    const kept = { metadata: { finalizers: ["machine.sapcloud.io/machine-controller-manager"] } };
    await api.patch(machineClassResource, { namespace, name: "small" }, kept, { kind: "merge" });
    await api.delete(namespaceResource, { name: namespace });
    const { output } = await run("doctor", "-n", namespace, "--control-kubeconfig", await kubeconfigOf("root"));
    const text = output.replaceAll(/\s+/g, " ");
    expect(text).toContain("FAILED Namespace: Namespace shop is being deleted, and with it the Leases");
    expect(text).toContain("bind the permissions by a ClusterRoleBinding");
    expect(text).toContain("run one with --leader-elect=false until the namespace is deleted.");
  });

  it("names each resource with missing permissions, and the consequence", async () => {
    const [role] = requiredRoles("control", namespace);
    const rules = role?.rules.map((rule) =>
      rule.resources.includes("machines/status")
        ? { ...rule, verbs: [] }
        : { ...rule, verbs: rule.verbs.filter((verb) => verb !== "watch") },
    );
    await api.patch(resources.Role, { namespace, name: "millwright" }, { rules }, { kind: "merge" });
    const { status, lines } = await findings("--clusters-only");
    expect(status).toBe(1);
    expect(lines.map((line) => line.split(";")[0])).toEqual([
      "Control and target cluster: failed Permission machines.machine.sapcloud.io: Not allowed in namespace shop: watch",
      "Control and target cluster: failed Permission machines.machine.sapcloud.io/status: Not allowed in namespace shop: patch",
      "Control and target cluster: failed Permission machinesets.machine.sapcloud.io: Not allowed in namespace shop: watch",
      "Control and target cluster: failed Permission machinedeployments.machine.sapcloud.io: Not allowed in namespace shop: watch",
      "Control and target cluster: failed Permission machineclasses.machine.sapcloud.io: Not allowed in namespace shop: watch",
      "Control and target cluster: failed Permission secrets: Not allowed in namespace shop: watch",
    ]);
  });

  it("only warns of a right without which the controllers run", async () => {
    await api.delete(resources.ClusterRoleBinding, { name: "millwright-control" });
    const { status, lines } = await findings("--clusters-only");
    expect({ status, lines }).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(
          /warning Permission customresourcedefinitions.*: Not allowed in the whole cluster: get, list, watch; deleting a CustomResourceDefinition deletes all VMs/,
        ),
      ],
    });
  });

  it("asks each cluster for its own permissions", async () => {
    const target = await kubeconfigOf("kubelets");
    const { lines } = await findings("--clusters-only", "--target-kubeconfig", target);
    expect(lines.length).toBeGreaterThan(5);
    // The controllers run without events of Nodes.
    const others = lines.filter((line) => !line.startsWith("Target cluster: failed Permission "));
    expect(others).toEqual([expect.stringMatching(/^Target cluster: warning Permission events: /)]);
    expect(lines.at(-1)).toContain("secrets: Not allowed in namespace kube-system: create, get, delete;");
    expect(await findings("--clusters-only", "--target-kubeconfig", "none")).toEqual({ status: 0, lines: [] });
  });

  it("reports kinds that do not exist, or drop fields of this version", async () => {
    const crd = crds().find(({ metadata }) => metadata.name.startsWith("machines."));
    const ref = { name: "machines.machine.sapcloud.io" };
    const versions = crd?.spec.versions.map((version) => ({
      ...version,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            status: { type: "object" },
          },
        },
      },
    }));
    await api.patch(customResourceDefinitionResource, ref, { spec: { versions } }, { kind: "merge" });
    expect(await findings("--clusters-only")).toEqual({
      status: 0,
      lines: [
        expect.stringMatching(
          /warning CRDs: .* drop \d+ fields of this version, such as machines\.status\.\w+, machines\.status\./,
        ),
      ],
    });
    await api.delete(customResourceDefinitionResource, ref);
    expect(await findings("--clusters-only")).toEqual({
      status: 1,
      lines: [
        expect.stringMatching(
          /failed CRDs: machine.sapcloud.io\/v1alpha1 does not serve machines, machines\/status\.$/,
        ),
      ],
    });
  });

  it("fails at the API server alone when it cannot be reached or refuses the credentials", async () => {
    const wrong = await findings("--control-kubeconfig", await kubeconfigOf("no-permissions"));
    expect(wrong).toEqual({
      status: 1,
      lines: [expect.stringMatching(/failed API server: the API server does not accept/)],
    });
    const away = await findings("--control-kubeconfig", await kubeconfigOf("root", "http://127.0.0.1:1"));
    expect(away).toEqual({
      status: 1,
      lines: [
        expect.stringMatching(/failed API server: GET \/version: the API server is unreachable: .*; check the server/),
      ],
    });
  });

  it("still checks the control cluster when the kubeconfig of the target cluster is bad", async () => {
    const { status, lines } = await findings("--target-kubeconfig", join(folder, "missing"));
    expect(status).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/^Target cluster: failed Kubeconfig: .*missing/), quota]);
  });

  it.each<[string, object, readonly RegExp[]]>([
    ["a missing secret", { secretRef: { name: "none", namespace } }, [/failed Secret: .*Secret "none" does not exist/]],
    ["an unknown driver", { provider: "alien" }, [/failed Driver: no driver "alien" is known; name its package/]],
    ["a bad field", { providerSpec: { machineType: "huge" } }, [/failed MachineClass: providerSpec\.machineType/]],
  ])("reports what is wrong with a class with %s, and calls no cloud", async (_, change, expected) => {
    await declareClass("odd", change);
    const { status, lines } = await findings("odd");
    expect(status).toBe(1);
    expect(lines).toEqual([
      ...expected.map((line) => expect.stringMatching(line)),
      expect.stringContaining("skipped Cloud: "),
    ]);
    expect(cloud.calls).toEqual([]);
  });

  it("reports the error of the cloud for a class, and checks the others", async () => {
    await api.create(secretResource, {
      metadata: { name: "old", namespace },
      data: { endpoint: btoa("http://127.0.0.1:1"), userData: "eA==" },
    });
    await declareClass("old", { secretRef: { name: "old", namespace } });
    const { status, lines } = await findings();
    expect(status).toBe(1);
    expect(lines.filter((line) => line.includes(": failed "))).toEqual([
      expect.stringMatching(/^MachineClass old: failed Credentials: /),
    ]);
    expect(lines).toContain(quota);
  });

  it("fails for classes that do not exist and that a deployment, or a set without one, needs", async () => {
    const pool = (name: string, className: string, metadata: object = {}) => ({
      apiVersion: "machine.sapcloud.io/v1alpha1",
      metadata: { name, namespace, ...metadata },
      spec: {
        replicas: 0,
        selector: { matchLabels: { name } },
        template: {
          metadata: { labels: { name } },
          spec: { class: { kind: "MachineClass", name: className } },
        },
      },
    });
    await api.create(machineDeploymentResource, pool("fine", "small"));
    expect((await findings()).status).toBe(0);
    const { metadata } = await api.get(machineDeploymentResource, { namespace, name: "fine" });
    const { group, version, kind } = machineDeploymentResource;
    const apiVersion = `${group}/${version}`;
    const ownerReferences = [{ apiVersion, kind, name: "fine", uid: metadata.uid, controller: true }];
    await api.create(machineSetResource, pool("old", "former", { ownerReferences }));
    await api.create(machineSetResource, pool("alone", "alien"));
    await api.create(machineDeploymentResource, pool("a", "typo"));
    await api.create(machineDeploymentResource, pool("b", "typo"));
    expect(await findings()).toEqual({
      status: 1,
      lines: [
        expect.stringMatching(/warning Controllers: No controllers have led namespace shop/),
        quota,
        "MachineClass typo: failed MachineClass: It does not exist in namespace shop, and MachineDeployment a and 1 more need it.",
        "MachineClass alien: failed MachineClass: It does not exist in namespace shop, and MachineSet alone needs it.",
      ],
    });
  });

  it("reports a class that does not exist, and classes that may not be read", async () => {
    expect(await findings("none")).toMatchObject({
      status: 1,
      lines: [
        expect.stringMatching(/failed MachineClass: MachineClass "none" does not exist in namespace shop/),
        expect.anything(),
      ],
    });
    await api.delete(resources.RoleBinding, { namespace, name: "millwright" });
    const { lines } = await findings();
    expect(lines.at(-1)).toMatch(
      /^MachineClasses of namespace shop: failed MachineClasses: .*forbidden.*; doctor needs to get and list/,
    );
  });

  it.each([
    [["small", "--clusters-only"], "error: name MachineClasses or use --clusters-only, not both"],
    [["--output", "xml"], "Allowed choices are text, json"],
    [["--nonsense"], "unknown option"],
  ])("ends with 2 for the command line %j", async (args, message) => {
    const { status, errors } = await doctor(...args);
    expect(status).toBe(2);
    expect(errors).toContain(message);
    expect(server.requests.some(({ userAgent }) => userAgent.includes("millwright"))).toBe(false);
  });

  it("prints roles that grant exactly what it checks", async () => {
    const { status, output } = await run("roles", "-n", namespace);
    const printed = parseAllDocuments(output).map((document) => document.toJS() as unknown);
    expect(status).toBe(0);
    expect(printed).toEqual([...requiredRoles("control", namespace), ...requiredRoles("target", namespace)]);
    const target = await run("roles", "--cluster", "target");
    expect(target.output).not.toContain("machine.sapcloud.io");
  });
});
