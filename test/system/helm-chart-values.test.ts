import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import { chart } from "../harness/chart.ts";
import { createHelm, createHelm3, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type RenderedObject, renderChart } from "../harness/rendered-chart.ts";
import { restrictedV2Problems } from "../harness/restricted-v2.ts";

/** Values that older releases do not have: `helm upgrade --reuse-values` leaves them out. */
const newValues = [
  "nameOverride",
  "fullnameOverride",
  "commonLabels",
  "commonAnnotations",
  "image.digest",
  "deletionBudgetPolicy",
  "strategy",
  "revisionHistoryLimit",
  "podDisruptionBudget.minAvailable",
  "metrics.serviceMonitor.scrapeTimeout",
  "metrics.serviceMonitor.relabelings",
  "metrics.serviceMonitor.metricRelabelings",
  "metrics.rules.runbookUrl",
  "podSecurityContext",
  "securityContext",
  "dnsPolicy",
  "dnsConfig",
  "hostNetwork",
  "driverContainers",
  "envFrom",
  "caBundle",
  "extraVolumes",
  "extraVolumeMounts",
  "extraContainers",
  "initContainers",
];

const selector = { "app.kubernetes.io/name": "millwright", "app.kubernetes.io/instance": "millwright" };
const sets = (...values: readonly string[]): readonly string[] => values.flatMap((value) => ["--set", value]);
const noDrivers = ["--set-json", "drivers=[]"];
/** All objects that the chart can have. */
const everything = sets(
  "autoscaler.enabled=true,autoscaler.tlsSecret=tls,dashboard.enabled=true,dashboard.address=::,metrics.authorization=true",
  "metrics.serviceMonitor.create=true,metrics.rules.create=true,metrics.dashboard.create=true",
);
const nameOf = ({ kind, metadata }: RenderedObject): string =>
  [kind, metadata.namespace ?? "", metadata.name].join(" ");

describe.each([
  ["Helm 3", createHelm3],
  ["Helm 4", createHelm],
] as const)("values of the chart, rendered by %s", (_, create) => {
  let folder: string;
  let helm: ForeignTool;
  let kubectl: ForeignTool;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-chart-"));
    // No cluster is needed.
    helm = await create(join(folder, "none"));
    kubectl = await createKubectl(join(folder, "none"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const render = (...args: readonly string[]) => renderChart(helm, ["--namespace", "machines", ...args]);

  it("let OpenShift choose user and group, and keep what restricted-v2 demands", async () => {
    const { pod } = await render("--values", join(chart, "examples/openshift.yaml"));
    expect(restrictedV2Problems(pod())).toEqual([]);
    expect(pod().securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    const usual = await render();
    expect(restrictedV2Problems(usual.pod())).toEqual(["runAsUser 65532", "fsGroup 65532"]);
    const changed = await render(...sets("securityContext.readOnlyRootFilesystem=null"));
    expect(changed.container().securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("name the objects, and leave room for the names of Services", async () => {
    const names = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await render(...everything, ...args)).objects.map(({ metadata }) => metadata.name);
    const { find } = await render(...sets("nameOverride=mcm"));
    expect(find("Deployment", "millwright-mcm").spec).toMatchObject({
      selector: { matchLabels: { "app.kubernetes.io/name": "mcm", "app.kubernetes.io/instance": "millwright" } },
    });
    const long = "n".repeat(52);
    for (const name of await names(...sets(`fullnameOverride=${long}`))) expect(name).toContain(long);
    const { objects } = await render(...everything, ...sets(`fullnameOverride=${long}`));
    for (const { metadata } of objects.filter(({ kind }) => kind === "Service"))
      expect(metadata.name.length).toBeLessThan(64);
    const { code, stderr } = await helm.attempt(["template", "x", chart, ...sets("fullnameOverride=A_b")]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("fullnameOverride")]);
  });

  it("let releases of two namespaces manage the same machines", async () => {
    const of = async (namespace: string): Promise<readonly string[]> => {
      const args = ["--namespace", namespace, ...everything, ...sets("machinesNamespace=shared")];
      return (await renderChart(helm, args)).objects.map(nameOf);
    };
    const [first, second] = [await of("a"), await of("b")];
    expect(first.filter((name) => second.includes(name))).toEqual([]);
    expect(new Set(first).size).toBe(first.length);
  });

  it("name the image by its digest", async () => {
    const digest = `sha256:${"0".repeat(64)}`;
    const image = async (...values: readonly string[]): Promise<unknown> =>
      (await render(...sets("image.repository=r.example/x", ...values))).container().image;
    expect(await image()).toBe("r.example/x:0.1.0");
    expect(await image(`image.digest=${digest}`)).toBe(`r.example/x@${digest}`);
    expect(await image(`image.digest=${digest}`, "image.tag=v2")).toBe(`r.example/x:v2@${digest}`);
    const wrong = await helm.attempt(["template", "x", chart, ...sets("image.digest=latest")]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("digest")]);
  });

  it("put labels and annotations on all objects, each key once, and never change the selector", async () => {
    const key = (text: string): string => text.replaceAll(".", String.raw`\.`);
    const { objects, find, pod, text } = await render(
      ...everything,
      ...sets(
        "commonLabels.team=core,commonLabels.cost=7x,commonAnnotations.owner=us,serviceAccount.annotations.owner=them",
        `podLabels.${key("app.kubernetes.io/name")}=other,podLabels.team=pods`,
        `podLabels.${key("app.kubernetes.io/version")}=mine,metrics.rules.labels.team=monitoring`,
      ),
    );
    for (const object of objects) {
      expect(object.metadata.labels, nameOf(object)).toMatchObject({ ...selector, cost: "7x" });
      expect(object.metadata.annotations, nameOf(object)).toHaveProperty("owner");
    }
    expect(find("ServiceAccount").metadata.annotations).toEqual({ owner: "them" });
    expect(find("PrometheusRule").metadata.labels).toMatchObject({ team: "monitoring" });
    expect(pod.labels()).toMatchObject({ ...selector, team: "pods", cost: "7x", "app.kubernetes.io/version": "mine" });
    // As post-renderers of Flux do, kustomize reads the objects, and refuses a key that is there twice.
    await writeFile(join(folder, "all.yaml"), text);
    const kustomization = { resources: ["all.yaml"], labels: [{ pairs: { flux: "yes" }, includeSelectors: false }] };
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
    expect((await kubectl(["kustomize", folder])).match(/^ +flux: "?yes"?$/gm)?.length).toBe(objects.length);
  });

  it("place the pods beside the nodes of machines, where they can start without any", async () => {
    const { pod } = await render();
    const [preferred] = pod().affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    expect(preferred?.preference.matchExpressions).toEqual([
      { key: "node.gardener.cloud/machine-name", operator: "DoesNotExist" },
    ]);
    expect(pod().tolerations).toEqual([
      { key: "node-role.kubernetes.io/control-plane", operator: "Exists", effect: "NoSchedule" },
    ]);
    const own = await render(...sets("affinity.podAntiAffinity.x=y"));
    expect(own.pod().affinity).toEqual({ podAntiAffinity: { x: "y" } });
  });

  it("pass flags as they are, also large numbers and characters of YAML", async () => {
    const values = join(folder, "flags.yaml");
    await writeFile(values, 'flags: { kube-api-qps: 1000000, v: 4, profiling: true, vmodule: "a: b #c" }');
    const { container } = await render("--values", values);
    expect(container().args.slice(-4)).toEqual([
      "--kube-api-qps=1000000",
      "--profiling=true",
      "--v=4",
      "--vmodule=a: b #c",
    ]);
  });

  it("fill in the selector of topology spread constraints", async () => {
    const spread = "topologySpreadConstraints";
    const { pod } = await render(...sets(`${spread}[0].topologyKey=zone,${spread}[1].labelSelector.matchLabels.a=b`));
    expect(pod().topologySpreadConstraints).toEqual([
      { topologyKey: "zone", labelSelector: { matchLabels: selector } },
      { labelSelector: { matchLabels: { a: "b" } } },
    ]);
  });

  it("set network, strategy, history, budget and scrapes", async () => {
    const { pod, find } = await render(
      ...sets(
        "hostNetwork=true,dnsPolicy=Default,dnsConfig.nameservers={10.0.0.2},strategy.type=Recreate,revisionHistoryLimit=0",
        "podDisruptionBudget.minAvailable=50%,metrics.serviceMonitor.create=true,metrics.serviceMonitor.scrapeTimeout=20s",
        "metrics.serviceMonitor.relabelings[0].action=labeldrop,metrics.serviceMonitor.metricRelabelings[0].action=drop",
      ),
    );
    expect(pod()).toMatchObject({
      hostNetwork: true,
      dnsPolicy: "Default",
      dnsConfig: { nameservers: ["10.0.0.2"] },
    });
    expect(find("Deployment").spec).toMatchObject({ strategy: { type: "Recreate" }, revisionHistoryLimit: 0 });
    expect(find("PodDisruptionBudget").spec).not.toHaveProperty("maxUnavailable");
    expect(find("PodDisruptionBudget").spec).toMatchObject({ minAvailable: "50%" });
    expect(find("ServiceMonitor").spec).toMatchObject({
      endpoints: [
        {
          scrapeTimeout: "20s",
          relabelings: [{ action: "labeldrop" }],
          metricRelabelings: [{ action: "drop" }],
        },
      ],
    });
    const onHost = await render(...sets("hostNetwork=true"));
    expect(onHost.find("Deployment").spec).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
    expect((await render()).find("PodDisruptionBudget").spec).toMatchObject({ maxUnavailable: 1 });
  });

  it("put drivers beside the controllers, each with a socket of its own and without the token", async () => {
    const driver = (index: number, ...values: readonly string[]) =>
      sets(...values.map((value) => `driverContainers[${index}].${value}`));
    const digest = `sha256:${"0".repeat(64)}`;
    const { pod, container } = await render(
      ...noDrivers,
      ...driver(0, "name=a", "image=r.example/a:1", "secretName=keys", "envFrom[0].secretRef.name=x"),
      ...driver(1, "name=b", "image=r.example/b", `digest=${digest}`, "resources.limits.memory=9Mi"),
    );
    expect(container().args.filter((arg) => arg.startsWith("--provider"))).toEqual([
      "--provider=unix:///run/millwright/a/driver.sock",
      "--provider=unix:///run/millwright/b/driver.sock",
    ]);
    const mounts = (name: string): readonly string[] =>
      container(name).volumeMounts.map(({ name: volume, mountPath }) => `${volume} at ${mountPath}`);
    expect(mounts("millwright")).toEqual([
      "tmp at /tmp",
      "token at /var/run/secrets/kubernetes.io/serviceaccount",
      "driver-a at /run/millwright/a",
      "driver-b at /run/millwright/b",
    ]);
    expect(mounts("a")).toEqual(["driver-a at /run/millwright/a", "secret-a at /etc/millwright/driver"]);
    expect(mounts("b")).toEqual(["driver-b at /run/millwright/b"]);
    expect(container("a")).toMatchObject({
      envFrom: [{ secretRef: { name: "x" } }],
      env: [
        { name: "MILLWRIGHT_DRIVER_SOCKET", value: "/run/millwright/a/driver.sock" },
        { name: "MILLWRIGHT_DRIVER_NAMESPACE", value: "machines" },
        { name: "TMPDIR", value: "/run/millwright/a" },
      ],
      securityContext: container().securityContext,
    });
    expect(container("b")).toMatchObject({ image: `r.example/b@${digest}`, resources: { limits: { memory: "9Mi" } } });
    expect(pod()).toMatchObject({ automountServiceAccountToken: false });
    for (const values of [noDrivers, driver(0, "name=a"), [...noDrivers, ...driver(0, "name=a", "image=x", "nme=a")]])
      expect((await helm.attempt(["template", "x", chart, ...values])).code, values.join(" ")).toBe(1);
  });

  it("trust further authorities in all containers of the release", async () => {
    const drivers = "driverContainers[0].name=a,driverContainers[0].image=x";
    const file = "/etc/millwright/ca/corp.pem";
    const variables = [
      { name: "SSL_CERT_FILE", value: file },
      { name: "NODE_EXTRA_CA_CERTS", value: file },
    ];
    for (const [value, volume] of [
      ["caBundle.configMap=corp", { configMap: { name: "corp" } }],
      ["caBundle.secret=corp", { secret: { secretName: "corp" } }],
    ] as const) {
      const { container, pod } = await render(...sets(value, "caBundle.key=corp.pem", drivers));
      for (const name of ["millwright", "a"]) {
        expect(container(name).env).toEqual(expect.arrayContaining(variables));
        expect(container(name).volumeMounts).toContainEqual({
          name: "ca",
          mountPath: "/etc/millwright/ca",
          readOnly: true,
        });
      }
      expect(pod().volumes).toContainEqual({ name: "ca", ...volume });
    }
    const own = await render(...sets("caBundle.secret=corp,env[0].name=SSL_CERT_FILE,env[0].value=mine"));
    expect(own.container().env).toEqual([
      { name: "SSL_CERT_FILE", value: "mine" },
      { name: "NODE_EXTRA_CA_CERTS", value: "/etc/millwright/ca/ca.crt" },
    ]);
    const both = await helm.attempt(["template", "x", chart, ...sets("caBundle.secret=x,caBundle.configMap=y")]);
    expect([both.code, both.stderr]).toEqual([1, expect.stringContaining("caBundle")]);
  });

  it("add containers, volumes and variables of their own", async () => {
    const { pod, container } = await render(
      ...sets(
        "extraVolumes[0].name=v,extraVolumes[0].emptyDir.medium=Memory,extraVolumeMounts[0].name=v,extraVolumeMounts[0].mountPath=/v",
        "extraContainers[0].name=proxy,extraContainers[0].image=p,initContainers[0].name=wait,initContainers[0].image=w",
        "envFrom[0].configMapRef.name=proxies",
      ),
    );
    expect(container().volumeMounts).toContainEqual({ name: "v", mountPath: "/v" });
    expect(container()).toMatchObject({ envFrom: [{ configMapRef: { name: "proxies" } }] });
    expect(pod().volumes).toContainEqual({ name: "v", emptyDir: { medium: "Memory" } });
    expect(pod().containers.map(({ name }) => name)).toEqual(["millwright", "proxy"]);
    expect(pod().initContainers).toMatchObject([{ name: "wait", image: "w" }]);
  });

  it("name the runbooks of each alert, and one dashboard for each release", async () => {
    const alerts = await render(
      ...sets("metrics.rules.create=true,metrics.rules.runbookUrl=https://wiki.example/runbooks"),
    );
    expect(alerts.text).toContain("runbook_url: https://wiki.example/runbooks#millwrightnoleader\n");
    expect(alerts.text).not.toContain("alerts.md#");
    const usual = await render(...sets("metrics.rules.create=true"));
    expect(usual.text).toMatch(/runbook_url: https:\/\/\S+\/alerts\.md#millwrightnoleader\n/);
    const dashboardOf = async (namespace: string) => {
      const { find } = await renderChart(helm, ["--namespace", namespace, ...sets("metrics.dashboard.create=true")]);
      const [entry] = Object.entries(find("ConfigMap")["data"] as Record<string, string>);
      const [file, text] = entry ?? [];
      const { uid, title, panels } = JSON.parse(text ?? "");
      expect([uid.length <= 40, panels.length > 10]).toEqual([true, true]);
      return [file, uid, title];
    };
    const [first, second] = [await dashboardOf("a"), await dashboardOf("b")];
    expect(first.filter((each) => second.includes(each))).toEqual([]);
    expect([first[0], first[2]]).toEqual(["a-millwright.json", "Millwright a-millwright"]);
  });

  it("have no address of one IP family, and probes that use that of the pod", async () => {
    const { text, container, find } = await render(...everything);
    expect(text.match(/\b\d+\.\d+\.\d+\.\d+\b|ipBlock/g)).toBeNull();
    for (const probe of ["livenessProbe", "readinessProbe"])
      expect(container()).toMatchObject({ [probe]: { httpGet: { port: "metrics" } } });
    expect(text).not.toMatch(/^ +host(IP)?:/m);
    // Source: KEP-563, "ipFamilyPolicy": both families where the cluster has them, otherwise its one.
    for (const name of ["metrics", "autoscaler", "dashboard"])
      expect(find("Service", `millwright-${name}`).spec).toMatchObject({ ipFamilyPolicy: "PreferDualStack" });
  });

  it("of an older release give the defaults of this one, and none that must be there is missing silently", async () => {
    const older = join(folder, "older");
    await cp(chart, older, { recursive: true });
    const values = parseDocument(await readFile(join(chart, "values.yaml"), "utf8"));
    for (const value of newValues) expect(values.deleteIn(value.split(".")), value).toBe(true);
    await writeFile(join(older, "values.yaml"), values.toString());
    const args = ["template", "millwright", "--namespace", "machines", ...everything];
    expect(await helm([...args, older])).toBe(await helm([...args, chart]));
    for (const value of ["autoscaler", "serviceAccount", "flags"]) {
      const { code, stderr } = await helm.attempt(["template", "x", chart, ...sets(`${value}=null`)]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`'?${value}'?`))]);
      expect(stderr).not.toContain("nil pointer");
    }
  });
});
