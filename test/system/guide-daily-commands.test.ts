import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import type { GuideFolder } from "../harness/guide-commands.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { yamlBlocks } from "../harness/tutorial-blocks.ts";

const namespace = "default";
const LONG = 90_000;

describe("the commands that look at machines, restore and uninstall", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let controllers: MillwrightProcess;
  let folder: string;
  let kubectl: ForeignTool;
  const names: Record<string, string> = { NAMESPACE: namespace };

  const guide = (page: string, folder: GuideFolder): Promise<GuideRunner> =>
    readGuide(page, { kubeconfig: fleet.kubeconfig, names, folder });
  const all = (kind: string): Promise<string> => kubectl(["get", kind, "-o", "name"]);

  beforeAll(async () => {
    fleet = await startControlledFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-guides-"));
    for (const file of ["machine.json", "fleet.yaml", "pool.yaml"]) names[file] = join(folder, file);
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.deploy(2);
    controllers = fleet.run();
    await fleet.untilRunning(2);
    names["NAME"] = (await fleet.machines())[0]?.metadata.name ?? "";
  });
  afterAll(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("answer what a machine does and waits for", async () => {
    const life = await guide("life-of-a-machine", "concepts");
    const where = "Where to see it";
    expect(await life.run(where, 0)).toMatch(/Running[^]*Running/);
    expect(await life.run(where, 1)).toMatch(/Phase: +Running/);
    expect(await life.run(where, 2)).toContain("Running");
    expect(await life.run(where, 3)).toContain(names["NAME"]);
    expect(life.rest).toEqual([]);

    const status = await guide("status", "reference");
    expect(await status.run("Phases of machines", 0)).toContain("Running");
    expect(JSON.parse(await status.run("Phases of machines", 1))).toBeTypeOf("object");
    expect(await status.run("Conditions of machines")).toContain("condition met");

    const codes = await guide("error-codes", "reference");
    expect(await codes.run("")).toMatch(/NAME +CODE +MESSAGE\n/);
    expect(codes.rest).toEqual([]);
  });

  it("answer why something is not as desired", async () => {
    const why = await guide("troubleshoot", "operations");
    const ask = "Ask why";
    expect(await why.run(ask, 1)).toContain("is as desired");
    expect(await why.run(ask, 3)).toMatch(/^Namespace \S+ is as desired/);
    expect(await why.run(ask, 5)).toContain("machinedeployment.machine.sapcloud.io/fleet");
    expect(await why.run(ask, 6)).toMatch(/REASON +CLASS +MESSAGE/);
    expect(await why.run(ask, 7)).toContain("REASON");
    expect(await why.run(ask, 8)).toContain("condition met");
    const machine = names["NAME"] ?? "";
    names["NAME"] = "fleet";
    expect(await why.run(ask, 0)).toContain("fleet");
    expect(await why.run(ask, 4)).toContain("is as desired");
    names["NAME"] = (await fleet.machines())[0]?.metadata.labels?.["node"] ?? "";
    expect(await why.run(ask, 2)).toContain(machine);
    names["NAME"] = machine;
  });

  it("wait for the end of a rollout, and not less", async () => {
    await writeFile(names["pool.yaml"] ?? "", JSON.stringify(machineDeployment("pool", "small", 1)));
    const status = await guide("status", "reference");
    const heading = "Conditions of deployments and sets";
    await status.run(heading, 0);
    expect(await status.run(heading, 1)).toContain("condition met");
    const ready = ["get", "machinedeployment", "pool", "-o", "jsonpath={.status.updatedReplicas}"];
    expect(await kubectl(ready)).toBe("1");
  });

  it("set the limits of a node group, and grant the dashboard the events", async () => {
    await kubectl(["apply", "-f", "-"], JSON.stringify(machineDeployment("web", "small", 0)));
    const autoscaler = await guide("cluster-autoscaler", "operations");
    await autoscaler.run("Node groups");
    const sizes = await kubectl(["get", "machinedeployment", "web", "-o", "jsonpath={.metadata.annotations}"]);
    expect(sizes).toMatch(/node-group-max-size":"10"/);
    autoscaler.leaveOut("millwright run", "cluster-autoscaler.test.ts starts the endpoint");
    autoscaler.leaveOut("cluster-autoscaler", "there is no binary of it; cluster-autoscaler.test.ts calls as it does");
    expect(autoscaler.rest).toEqual([]);

    const [role = ""] = await yamlBlocks("docs/operations/dashboard.md");
    expect(await kubectl(["apply", "-f", "-"], role.replace("NAMESPACE", namespace))).toContain("role.rbac");
  });

  it("create a machine from an export again, and remove what blocks deletions", async () => {
    const [machine] = await fleet.machines();
    const set = machine?.metadata.ownerReferences?.[0]?.name ?? "";
    const lost = await guide("objects-were-lost", "operations");
    const expected = "machine.millwright.dev/expected-replicas";
    await kubectl(["annotate", "machineset", set, `${expected}=2`]);
    names["SET"] = set;
    await writeFile(names["fleet.yaml"] ?? "", await kubectl(["get", "machines", "-o", "yaml"]));
    expect(await lost.run("Restore an export", 1)).toContain("5 of 5 objects exist already");
    await lost.run("Decide", 0);
    expect(await kubectl(["get", "machineset", set, "-o", "yaml"])).not.toContain(expected);

    await kubectl(["delete", "machinedeployment", "pool", "--wait=false"]);
    await fleet.untilRunning(2);
    const { metadata, ...rest } = JSON.parse(
      await kubectl(["get", "machine", machine?.metadata.name ?? "", "-o", "json"]),
    );
    const exported = { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
    await writeFile(names["machine.json"] ?? "", JSON.stringify(exported));
    expect(await controllers.stop("SIGTERM")).toBe(0);

    const uninstall = await guide("uninstall", "operations");
    expect(await uninstall.run("Remove finalizers", 0)).toMatch(/Secret +1 /);
    expect(await all("machines")).not.toBe("");
    await uninstall.run("Remove finalizers", 1);
    await kubectl(["delete", "machinedeployments,machinesets,machines", "--all"]);
    await eventually(async () => expect(await all("machines")).toBe(""), LONG);

    await kubectl(["create", "-f", names["machine.json"] ?? ""]);
    expect(await all("machines")).toBe(`machine.machine.sapcloud.io/${machine?.metadata.name}\n`);

    // The export has the finalizer, which no controller would remove.
    await uninstall.run("Remove finalizers", 1);
    await uninstall.run("Remove the objects and CRDs last", 0);
    await uninstall.run("Remove the objects and CRDs last", 2);
    await eventually(async () => expect(await all("crds")).not.toContain("machine.sapcloud.io"), LONG);
  });
});
