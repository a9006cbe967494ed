import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isRecord } from "@millwright/base";
import {
  annotationKeys,
  type MachineDeployment,
  machineDeploymentResource,
  taintKeys,
} from "@millwright/core/machine-api";
import { secretProblems, specProblems } from "@millwright/core/testing";
import { secretResource } from "@millwright/kube";
import { createAwsDriver } from "@millwright/provider-aws";
import { createAzureDriver } from "@millwright/provider-azure";
import { createGcpDriver } from "@millwright/provider-gcp";
import { createMockDriver } from "@millwright/provider-mock";
import { createQemuDriver } from "@millwright/provider-qemu";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { readGuide } from "../harness/guide-runner.ts";
import { startTargetCluster } from "../harness/target-cluster.ts";

const folder = fileURLToPath(new URL("../../examples/", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const objectsOf = (file: string): readonly Readonly<Record<string, unknown>>[] =>
  parseAllDocuments(readFileSync(`${folder}${file}`, "utf8")).map((document) => {
    const object: unknown = document.toJS();
    return isRecord(object) ? object : {};
  });
const ofKind = (file: string, kind: string) => objectsOf(file).filter((object) => object["kind"] === kind);
const driverOf = (machineClass: Readonly<Record<string, unknown>>) => String(machineClass["provider"]).toLowerCase();
const simulated = files.filter((file) => ofKind(file, "MachineClass").every((each) => driverOf(each) === "mock"));

/** What the schema of its driver has against a class. */
const problemsOf: Readonly<Record<string, (spec: unknown) => Promise<readonly string[]>>> = {
  aws: (spec) => specProblems(createAwsDriver(), spec),
  azure: (spec) => specProblems(createAzureDriver(), spec),
  gcp: (spec) => specProblems(createGcpDriver(), spec),
  mock: (spec) => specProblems(createMockDriver(), spec),
  qemu: (spec) => specProblems(createQemuDriver(), spec),
};
const secretProblemsOf: Readonly<
  Record<string, (data: Readonly<Record<string, string>>) => Promise<readonly string[]>>
> = {
  aws: (data) => secretProblems(createAwsDriver(), data),
  azure: (data) => secretProblems(createAzureDriver(), data),
  gcp: (data) => secretProblems(createGcpDriver(), data),
  qemu: (data) => secretProblems(createQemuDriver(), data),
};

describe("the examples", () => {
  let fleet: ControlledFleet;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    fleet = await startControlledFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    await kubectl(["create", "namespace", "machines"]);
    // `npm start` creates this Secret.
    const { data } = await fleet.api.get(secretResource, { namespace: "default", name: "cloud" });
    await fleet.api.create(secretResource, { metadata: { namespace: "default", name: "example" }, data });
  });
  afterAll(() => fleet.close());

  it("are all in the page, which names no others", () => {
    const page = readFileSync(`${folder}README.md`, "utf8");
    const named = [...page.matchAll(/\]\(([\w-]+\.yaml)\)/g)].map(([, name = ""]) => name);
    expect(named.toSorted()).toEqual(files.toSorted());
    expect(simulated.length).toBeGreaterThan(5);
  });

  it.each(files)("are accepted by the API server and by the driver: %s", async (file) => {
    const applied = await kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", `${folder}${file}`]);
    expect(applied.trim().split("\n")).toHaveLength(objectsOf(file).length);
    const classes = ofKind(file, "MachineClass");
    expect(classes.length).toBeGreaterThan(0);
    for (const machineClass of classes)
      expect(await problemsOf[driverOf(machineClass)]?.(machineClass["providerSpec"])).toEqual([]);
    for (const { stringData } of ofKind(file, "Secret")) {
      const check = secretProblemsOf[driverOf(classes[0] ?? {})];
      expect(await check?.(isRecord(stringData) ? Object(stringData) : {})).toEqual([]);
    }
  });

  it.each(files.filter((file) => ofKind(file, "Secret").length > 0))(
    "have the kubelet register with the startup taint, so that a cluster autoscaler may scale the pool: %s",
    async (file) => {
      const [{ stringData } = {}] = ofKind(file, "Secret");
      const script = String(Reflect.get(Object(stringData), "userData"))
        .replace("> /etc/default/kubelet", "")
        .replaceAll(/<<(\w+)>>/g, "$1");
      const { stdout } = await promisify(execFile)("bash", ["-euc", `kubeadm() { echo joins; }\n${script}`]);
      // The kubelet reads the file when kubeadm starts it.
      expect(stdout.trim().split("\n")).toEqual([
        `KUBELET_EXTRA_ARGS=--register-with-taints=${taintKeys.templatePending}:NoSchedule`,
        "joins",
      ]);
    },
  );

  it("are refused with a field that does not exist", async () => {
    const wrong = readFileSync(`${folder}pool.yaml`, "utf8").replace("maxSurge:", "maxSurgee:");
    const { code, stderr } = await kubectl.attempt(
      ["apply", "--dry-run=server", "--validate=strict", "-f", "-"],
      wrong,
    );
    expect(code).toBe(1);
    expect(stderr).toContain("maxSurgee");
  });

  /** Waits until each deployment of the files has all of its machines Running. */
  const untilRunning = async (names: readonly string[]): Promise<void> => {
    const expected = names.flatMap((file) => ofKind(file, "MachineDeployment"));
    expect(expected).toHaveLength(names.length);
    await eventually(async () => {
      const { items } = await fleet.api.list<MachineDeployment>(machineDeploymentResource, { namespace: "default" });
      const sizes = items.map(
        ({ metadata, spec, status }) => `${metadata.name}: ${status?.readyReplicas ?? 0} of ${spec.replicas}`,
      );
      const wanted = expected.map(({ metadata, spec }) => {
        const { name, annotations = {} } = Object(metadata);
        // A pool without size begins with the minimum of its autoscaler.
        const replicas = String(Reflect.get(Object(spec), "replicas") ?? annotations[annotationKeys.autoscalerMinSize]);
        return `${name}: ${replicas} of ${replicas}`;
      });
      expect(sizes.toSorted()).toEqual(wanted.toSorted());
    }, 120_000);
  };

  it("of the simulated cloud end with machines that are Running", async () => {
    const names = simulated.filter((file) => file !== "two-clusters.yaml");
    // The deletion of all of them together would be held.
    const controllers = fleet.run("--machine-safety-max-deletion-share=0");
    for (const file of names) await kubectl(["apply", "-f", `${folder}${file}`]);
    await untilRunning(names);
    const nodes = await kubectl(["get", "nodes", "-l", "workload=batch", "-o", "jsonpath={.items[*].spec.taints}"]);
    expect(nodes).toContain('"key":"workload"');
    await kubectl(["annotate", "machinedeployment", "--all", "machine.millwright.dev/deletion-protection-"]);
    for (const file of names) await kubectl(["delete", "--wait=false", "-f", `${folder}${file}`]);
    await fleet.untilGone();
    await controllers.stop("SIGTERM");
  });

  it("of two clusters has machines in one and Nodes in the other", async () => {
    const target = await startTargetCluster(fleet);
    try {
      const controllers = fleet.run(target.flag);
      const names = { TARGET: target.flag.replace("--target-kubeconfig=", "") };
      const guide = await readGuide("two-clusters", { kubeconfig: fleet.kubeconfig, names, folder: "guides" });
      expect(await guide.run("Two clusters", 0)).toContain("role.rbac.authorization.k8s.io/millwright");
      expect(await guide.run("Two clusters", 1)).toContain("clusterrole.rbac.authorization.k8s.io/millwright-target");
      expect(await guide.run("Two clusters", 2)).not.toContain("FAILED");
      guide.leaveOut("millwright run", "the fleet runs it, with the simulated cloud");
      expect(guide.rest).toEqual([]);

      await kubectl(["apply", "-f", `${folder}two-clusters.yaml`]);
      await untilRunning(["two-clusters.yaml"]);
      const labeled = ["get", "nodes", "-l", "pool=remote", "-o", "name"];
      const there = await (await createKubectl(names.TARGET))(labeled);
      expect(there.trim().split("\n")).toHaveLength(2);
      expect(await kubectl(labeled)).toBe("");
      await controllers.stop("SIGTERM");
    } finally {
      await target.close();
    }
  });
});
