import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@millwright/base";
import { crds } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { chart, containerArguments } from "../harness/chart.ts";
import { createHelm, createHelm3, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { startMillwright } from "../harness/millwright.ts";
import { checkOutPreviousVersion } from "../harness/previous-version.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

const namespace = "machines";
const inNamespace = ["--namespace", namespace];
const wait = ["--wait", "--timeout=60s"];

/** Its pods are simulated; `test/compat/helm-chart.test.ts` runs the command with the rights of the chart. */
describe("the Helm chart on the devcluster", () => {
  let cluster: WorkingCluster;
  let helm: ForeignTool;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    cluster = await startWorkingCluster("a", "b");
    helm = await createHelm(cluster.kubeconfig);
    kubectl = await createKubectl(cluster.kubeconfig);
  });
  afterAll(() => cluster.close());

  const selector = { "app.kubernetes.io/name": "millwright", "app.kubernetes.io/instance": "millwright" };

  /** What the chart would create. */
  const render = async (...values: readonly string[]) => {
    const text = await helm(["template", "millwright", chart, ...inNamespace, ...values]);
    const objects = parseAllDocuments(text).map((document): unknown => document.toJS());
    const find = (kind: string, name = "millwright"): unknown =>
      objects.find(
        (object) =>
          isRecord(object) &&
          object["kind"] === kind &&
          isRecord(object["metadata"]) &&
          object["metadata"]["name"] === name,
      );
    return { text, find };
  };

  it("has no problems that helm lint finds, with any of the examples", async () => {
    const examples = await readdir(join(chart, "examples"));
    expect(examples.length).toBeGreaterThan(3);
    for (const example of examples)
      expect(await helm(["lint", "--strict", chart, "--values", join(chart, "examples", example)])).toContain(
        "0 chart(s) failed",
      );
  });

  it.each([
    ["foo=1", "'foo' not allowed"],
    ["flags.namespace=other", "invalid propertyName 'namespace'"],
    ["flags.machine-helth-timeout=5m", "invalid propertyName 'machine-helth-timeout'"],
    ["moreMachinesNamespaces={A}", "moreMachinesNamespaces"],
    ["replicas=two", "at '/replicas'"],
    ["drivers=null", "drivers"],
    ["autoscaler.enabled=true", "at '/autoscaler/tlsSecret'"],
    ["autoscaler.enabled=true,autoscaler.tlsSecret=x,flags.autoscaler-address=0.0.0.0:1", "autoscaler-address"],
    ["dashboard.enabled=true,flags.dashboard-address=0.0.0.0:1", "dashboard-address"],
    ["image.pullPolicy=Sometimes", "at '/image/pullPolicy'"],
  ])("refuses --set %s", async (value, message) => {
    const { code, stderr } = await helm.attempt(["template", "x", chart, "--set", value]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  it("names each namespace of machines once", async () => {
    const set = ["--set", "moreMachinesNamespaces={machines,team-b}"];
    const text = await helm(["template", "millwright", chart, ...inNamespace, ...set]);
    expect(text).toContain("- --namespace=machines,team-b\n");
    expect(text.match(/kind: Role\nmetadata:\n {2}name: millwright\n {2}namespace: machines\n/g)).toHaveLength(1);
  });

  it("has the deletion protection policy for Kubernetes 1.30 and newer, also without a cluster", async () => {
    const policies = async (...args: readonly string[]): Promise<number> =>
      (await render(...args)).text.match(/kind: ValidatingAdmissionPolicy\n/g)?.length ?? 0;
    expect(await policies()).toBeGreaterThan(0);
    expect(await policies("--kube-version", "1.30.2-gke.100")).toBeGreaterThan(0);
    expect(await policies("--kube-version", "1.29.9")).toBe(0);
    expect(await policies("--set", "deletionProtectionPolicy.create=false,deletionBudgetPolicy.create=false")).toBe(0);
  });

  it("has the warning of the deletion budget with the share of the flag, for the namespaces of machines", async () => {
    const policy = async (...args: readonly string[]): Promise<string> =>
      (await render(...args)).text
        .split("---\n")
        .filter((object) => /^  name: \S+-deletion-budget$/m.test(object))
        .join();
    expect(await policy()).toMatch(/- expression: "50"\n +name: share\n/);
    const selects =
      /namespaceSelector:\n +matchExpressions:\n +- key: kubernetes.io\/metadata.name\n +operator: In\n +values:\n/;
    expect(await policy()).toMatch(selects);
    expect(await policy("--set", "flags.machine-safety-max-deletion-share=80%")).toMatch(
      /- expression: "80"\n +name: share\n/,
    );
    const target = ["--set", "targetCluster.kubeconfigSecret=target"];
    for (const off of [
      ["--set", "flags.machine-safety-max-deletion-share=0"],
      target,
      ["--set", "deletionBudgetPolicy.create=false"],
    ])
      expect(await policy(...off)).toBe("");
    expect(await policy(...target, "--set", "flags.machine-safety-max-deletion-share=30")).toMatch(
      /"30"\n +name: share\n/,
    );
  });

  it("gives the same pods the roles of further namespaces", async () => {
    const set = ["--set", "machinesNamespace=team-a", "--set", "moreMachinesNamespaces={team-b,team-c}"];
    const text = await helm(["template", "millwright", chart, "--namespace", "system", ...set]);
    expect(text).toContain("- --namespace=team-a,team-b,team-c\n");
    const places = text.split("---\n").flatMap((object) => {
      const [, kind, name, namespace] =
        /kind: (Role|RoleBinding)\nmetadata:\n {2}name: (\S+)\n {2}namespace: (\S+)/.exec(object) ?? [];
      return kind === undefined ? [] : [`${kind} ${name} in ${namespace}`];
    });
    expect(places.toSorted()).toEqual(
      ["Role", "RoleBinding"].flatMap((kind) => [
        `${kind} system-millwright in team-a`,
        `${kind} system-millwright in team-b`,
        `${kind} system-millwright in team-c`,
        `${kind} system-millwright-tokens in kube-system`,
      ]),
    );
  });

  it("installs two ready pods, the CRDs, and nothing that the administrator did not ask for", async () => {
    const args = ["install", "millwright", chart, ...inNamespace, "--create-namespace", ...wait];
    expect(await helm(args)).toContain("STATUS: deployed");
    const ready = await kubectl([
      ...inNamespace,
      "get",
      "deployment",
      "millwright",
      "-o",
      "jsonpath={.status.readyReplicas}",
    ]);
    expect(ready).toBe("2");
    for (const { metadata } of crds())
      await kubectl(["wait", "--for=condition=Established", `crd/${metadata.name}`, "--timeout=60s"]);
    const diff = startMillwright(["crds", "diff", "--control-kubeconfig", cluster.kubeconfig]);
    expect(await diff.ended, diff.output()).toBe(0);
    expect(await containerArguments(kubectl, namespace)).toEqual([
      "run",
      "--provider=mock",
      "--control-kubeconfig=inClusterConfig",
      "--namespace=machines",
      "--log-level=info",
      "--port=10258",
    ]);
  });

  it("passes flags to a valid command line, and a kubeconfig of another cluster", async () => {
    await kubectl([...inNamespace, "create", "secret", "generic", "target", "--from-literal=kubeconfig=x"]);
    const values = [
      "--values",
      join(chart, "examples/target-cluster.yaml"),
      "--set",
      "flags.machine-health-timeout=3m",
    ];
    await helm(["upgrade", "millwright", chart, ...inNamespace, ...values, ...wait]);
    const args = await containerArguments(kubectl, namespace);
    expect(args).toContain("--target-kubeconfig=/etc/millwright/target/kubeconfig");
    expect(args).toContain("--machine-health-timeout=3m");
    expect(args).toContain("--machine-safety-max-deletion-share=50%");
    // The machines are of another cluster: no rights on nodes of this one.
    expect(await kubectl(["get", "clusterroles", "-l", "app.kubernetes.io/instance=millwright", "-o", "name"])).toBe(
      "clusterrole.rbac.authorization.k8s.io/machines-millwright-control\n",
    );
    // The whole line is parsed before the first file is read.
    const run = startMillwright(args.map((arg) => arg.replace("inClusterConfig", "/nonexistent")));
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain("/nonexistent");
  });

  it("serves the cluster autoscaler with the Secret's files, behind a Service of all ready pods that only the autoscaler may reach", async () => {
    expect((await render()).text).not.toContain("autoscaler");
    const { find } = await render("--values", join(chart, "examples/autoscaler.yaml"));
    expect(find("Service", "millwright-autoscaler")).toMatchObject({
      spec: { selector, ports: [{ name: "grpc", port: 8086, targetPort: "autoscaler" }] },
    });
    expect(find("NetworkPolicy")).toMatchObject({
      spec: {
        podSelector: { matchLabels: selector },
        ingress: [
          { ports: [{ port: "metrics" }] },
          {
            ports: [{ port: "autoscaler", protocol: "TCP" }],
            from: [{ podSelector: { matchLabels: { app: "cluster-autoscaler" } } }],
          },
        ],
      },
    });
    expect(find("Deployment")).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: expect.arrayContaining([
                  "--autoscaler-address=[::]:8086",
                  "--autoscaler-tls-cert=/etc/millwright/autoscaler/tls.crt",
                  "--autoscaler-tls-key=/etc/millwright/autoscaler/tls.key",
                  "--autoscaler-tls-client-ca=/etc/millwright/autoscaler/ca.crt",
                ]),
                ports: [{ name: "metrics" }, { name: "autoscaler", containerPort: 8086 }],
                volumeMounts: [
                  { name: "tmp" },
                  { name: "token" },
                  { name: "autoscaler-tls", mountPath: "/etc/millwright/autoscaler", readOnly: true },
                ],
              },
            ],
            volumes: [
              { name: "tmp" },
              { name: "token" },
              { name: "autoscaler-tls", secret: { secretName: "autoscaler-tls" } },
            ],
          },
        },
      },
    });
  });

  it("serves the dashboard inside of the pods, with the right to list events", async () => {
    expect((await render()).text).not.toMatch(/name: \S*dashboard/);
    const { find } = await render("--set", "dashboard.enabled=true");
    expect(find("Deployment")).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: expect.arrayContaining(["--dashboard", "--dashboard-address=127.0.0.1:8090"]),
                ports: [{ name: "metrics" }],
              },
            ],
          },
        },
      },
    });
    expect(find("Role", "millwright-dashboard")).toMatchObject({ rules: [{ resources: ["events"], verbs: ["list"] }] });
    expect(find("Service", "millwright-dashboard")).toBeUndefined();
    expect(find("ClusterRoleBinding", "machines-millwright-token-reviews")).toBeUndefined();
    expect(find("NetworkPolicy")).toMatchObject({ spec: { ingress: [{ ports: [{ port: "metrics" }] }] } });
  });

  it("serves the dashboard at another address behind a Service, with the right to review tokens", async () => {
    const peers = "networkPolicy.dashboardFrom[0].podSelector.matchLabels.app=ingress";
    const values = "dashboard.enabled=true,dashboard.address=::";
    const { find } = await render("--set", values, "--set", peers);
    expect(find("Service", "millwright-dashboard")).toMatchObject({
      spec: { selector, ports: [{ name: "http", port: 8090, targetPort: "dashboard" }] },
    });
    expect(find("NetworkPolicy")).toMatchObject({
      spec: {
        ingress: [
          { ports: [{ port: "metrics" }] },
          {
            ports: [{ port: "dashboard", protocol: "TCP" }],
            from: [{ podSelector: { matchLabels: { app: "ingress" } } }],
          },
        ],
      },
    });
    expect(find("ClusterRoleBinding", "machines-millwright-token-reviews")).toMatchObject({
      roleRef: { kind: "ClusterRole", name: "system:auth-delegator" },
      subjects: [{ kind: "ServiceAccount", name: "millwright", namespace }],
    });
  });

  it.each(["::", "[::]", "0.0.0.0", "::1", "127.0.0.1"])("takes %s as an address", async (address) => {
    const { find, text } = await render("--set", `dashboard.enabled=true,dashboard.address=${address}`);
    const expected = address.includes(":") ? `[${address.replaceAll(/[[\]]/g, "")}]` : address;
    expect(text).toContain(`- --dashboard-address=${expected}:8090\n`);
    const isShared = !["::1", "127.0.0.1"].includes(address);
    expect(find("Service", "millwright-dashboard") !== undefined).toBe(isShared);
  });

  it("serves the metrics only with a token, which the ServiceMonitor has", async () => {
    const values = "metrics.authorization=true,metrics.serviceMonitor.create=true";
    const { find, text } = await render("--set", values);
    expect(text).toContain("- --metrics-authorization\n");
    expect(find("ClusterRoleBinding", "machines-millwright-token-reviews")).toMatchObject({
      roleRef: { kind: "ClusterRole", name: "system:auth-delegator" },
      subjects: [{ kind: "ServiceAccount", name: "millwright", namespace }],
    });
    expect(find("ClusterRole", "machines-millwright-metrics-reader")).toMatchObject({
      rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
    });
    expect(find("ServiceMonitor")).toMatchObject({
      spec: { endpoints: [{ bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" }] },
    });
    const secret = "metrics.serviceMonitor.tokenSecret.name=prometheus,metrics.serviceMonitor.tokenSecret.key=token";
    const withSecret = await render("--set", `${values},${secret}`);
    expect(withSecret.find("ServiceMonitor")).toMatchObject({
      spec: { endpoints: [{ authorization: { credentials: { name: "prometheus", key: "token" } } }] },
    });
    expect(withSecret.text).not.toContain("bearerTokenFile");
    const without = await render("--set", "metrics.serviceMonitor.create=true");
    expect(without.text).not.toMatch(
      /bearerTokenFile|authorization:$|metrics-reader|token-reviews|metrics-authorization/m,
    );
  });

  it("rolls back, and is uninstalled without the CRDs", async () => {
    await helm(["rollback", "millwright", "1", ...inNamespace, ...wait]);
    expect(await containerArguments(kubectl, namespace)).not.toContain("--machine-health-timeout=3m");
    await helm(["uninstall", "millwright", ...inNamespace, ...wait]);
    const left = ["get", "all,roles,clusterroles", "-A", "-l", "app.kubernetes.io/instance=millwright", "-o", "name"];
    expect(await kubectl(left)).toBe("");
    expect((await kubectl(["get", "crds", "-o", "name"])).trim().split("\n")).toHaveLength(crds().length);
  });

  it("is installed, upgraded, rolled back and uninstalled by Helm 3 too", async () => {
    const helm3 = await createHelm3(cluster.kubeconfig);
    expect(await helm3(["version", "--short"])).toMatch(/^v3\./);
    expect(await helm3(["lint", "--strict", chart])).toContain("0 chart(s) failed");
    expect(await helm3(["install", "millwright", chart, ...inNamespace, ...wait])).toContain("STATUS: deployed");
    const flag = ["--set", "flags.machine-health-timeout=3m"];
    await helm3(["upgrade", "millwright", chart, ...inNamespace, ...flag, ...wait]);
    expect(await containerArguments(kubectl, namespace)).toContain("--machine-health-timeout=3m");
    const { code, stderr } = await helm3.attempt(["template", "x", chart, "--set", "replicas=two"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("replicas")]);
    await helm3(["rollback", "millwright", "1", ...inNamespace, ...wait]);
    expect(await containerArguments(kubectl, namespace)).not.toContain("--machine-health-timeout=3m");
    await helm3(["uninstall", "millwright", ...inNamespace, ...wait]);
    const left = [
      "get",
      "deployments,services,roles,clusterroles",
      "-A",
      "-l",
      "app.kubernetes.io/instance=millwright",
    ];
    expect(await kubectl([...left, "-o", "name"])).toBe("");
  });

  it.each([
    ["Helm 3", createHelm3],
    ["Helm 4", createHelm],
  ])("is upgraded by %s from the previous version with its values, and rolled back", async (_, create) => {
    const tool = await create(cluster.kubeconfig);
    const previous = await checkOutPreviousVersion();
    try {
      const set = ["--set", "dashboard.enabled=true,dashboard.address=0.0.0.0"];
      await tool(["install", "millwright", previous.chart, ...inNamespace, "--create-namespace", ...set]);
      await tool(["upgrade", "millwright", chart, ...inNamespace, "--reuse-values"]);
      const kinds = (yaml: string): readonly string[] => (yaml.match(/^kind: .*/gm) ?? []).toSorted();
      const manifest = await tool(["get", "manifest", "millwright", ...inNamespace]);
      expect(kinds(manifest)).toEqual(kinds((await render(...set)).text));
      await tool(["rollback", "millwright", "1", ...inNamespace]);
    } finally {
      await tool.attempt(["uninstall", "millwright", ...inNamespace, ...wait]);
      await previous.close();
    }
  });

  it("is installed in two namespaces of one cluster", async () => {
    await helm(["install", "millwright", chart, ...inNamespace, ...wait]);
    await helm(["install", "millwright", chart, "--namespace", "other", "--create-namespace", ...wait]);
    await helm(["uninstall", "millwright", "--namespace", "other", ...wait]);
    expect(await kubectl(["get", "priorityclasses,clusterroles", "-o", "name"])).toContain("machines-millwright");
    await helm(["uninstall", "millwright", ...inNamespace, ...wait]);
  });

  it("crds diff and crds apply bring CustomResourceDefinitions of an older version up to date", async () => {
    const run = async (...args: readonly string[]) => {
      const process = startMillwright(["crds", ...args, "--control-kubeconfig", cluster.kubeconfig]);
      return { status: await process.ended, output: process.output() };
    };
    const older = '[{"op":"remove","path":"/spec/versions/0/additionalPrinterColumns/0"}]';
    await kubectl(["patch", "crd", "machines.machine.sapcloud.io", "--type=json", "-p", older]);
    expect(await run("diff")).toMatchObject({
      status: 3,
      output: expect.stringContaining("machines.machine.sapcloud.io different\n  spec."),
    });
    expect(await run("apply")).toMatchObject({
      status: 0,
      output: expect.stringContaining("machines.machine.sapcloud.io updated"),
    });
    expect(await run("diff")).toMatchObject({ status: 0 });
  });
});
