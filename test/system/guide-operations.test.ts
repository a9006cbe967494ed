import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerTagKeys as awsTags } from "../../providers/aws/src/vm/owner-tags.ts";
import { ownerTagKeys as azureTags } from "../../providers/azure/src/vm/owner-tags.ts";
import { ownerLabelKeys as gcpLabels } from "../../providers/gcp/src/vm/owner-tags.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chart } from "../harness/chart.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { startMillwright } from "../harness/millwright.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";

const namespace = "default";
const LONG = 90_000;

describe("the guides to backups, tuning and the clouds", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let folder: string;
  let kubectl: ForeignTool;
  const names: Record<string, string> = { NAMESPACE: namespace, CLASS: "small", SECRET: "cloud", DEPLOYMENT: "fleet" };

  const guide = (page: string): Promise<GuideRunner> => readGuide(page, { kubeconfig: fleet.kubeconfig, names });

  beforeAll(async () => {
    fleet = await startControlledFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-guides-"));
    for (const file of ["fleet.yaml"]) names[file] = join(folder, file);
    kubectl = await createKubectl(fleet.kubeconfig);
    const helm = await createHelm(fleet.kubeconfig);
    await helm(["install", "millwright", chart, "--namespace", namespace]);
    await fleet.deploy(2);
    fleet.run();
    await fleet.untilRunning(2);
  });
  afterAll(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  const argsOf = (): Promise<string> =>
    kubectl(["get", "deployment", "millwright", "-o", "jsonpath={.spec.template.spec.containers[0].args}"]);

  it("print the flags in effect, and change one", async () => {
    const tune = await guide("tune");
    const see = "See what is in effect";
    expect(await tune.run(see, 0)).toContain("logLevel: info");
    expect(await tune.run(see, 1)).toMatch(/concurrent-machine-creations: "200" # command line/);
    await tune.run(see, 2);
    expect(await argsOf()).toContain("--concurrent-machine-creations=200");
    expect(tune.rest).toEqual([]);
  });

  it("name flags and metrics that exist", async () => {
    const [metrics, ...pages] = await Promise.all(
      ["docs/metrics.md", "docs/operations/tune.md", "docs/operations/objects-were-lost.md"].map((path) =>
        readFile(new URL(`../../${path}`, import.meta.url), "utf8"),
      ),
    );
    for (const page of pages) {
      for (const [, name = ""] of page.matchAll(
        /`((?:mcm|millwright|workqueue|controller_runtime|rest_client|process|nodejs)_\w+)`/g,
      ))
        expect(metrics).toContain(`\`${name}\``);
    }
    const flags = [...(pages[0] ?? "").matchAll(/`--((?:concurrent|machine)-[a-z-]+)`/g)].map(([, flag = ""]) => flag);
    const help = startMillwright(["run", "--help"]);
    await help.ended;
    expect(flags.length).toBeGreaterThan(6);
    for (const flag of flags) expect(help.output()).toContain(`--${flag}`);
  });

  it.each([
    ["aws", "aws ec2", `tag:${awsTags.managedBy},Values=millwright`],
    ["gcp", "gcloud compute", `labels.${gcpLabels.managedBy}=millwright`],
    ["azure", "az", `--tag ${azureTags.managedBy}=millwright`],
  ])(
    "run on %s as far as they do not ask the cloud, and find its VMs by the tag of the driver",
    async (page, tool, tag) => {
      const cloud = await guide(page);
      expect(await cloud.run("Permissions")).toContain("MachineClass small");
      await cloud.run("Change the credential", 0);
      expect(await cloud.run("Change the credential", 1)).toContain("MachineClass small");
      await cloud.run("Change the credential", 2);
      const data = await kubectl(["get", "secret", "cloud", "-o", "jsonpath={.data}"]);
      expect(data).toContain(Buffer.from("NEW").toString("base64"));
      const machines = await cloud.run("What costs money", 2);
      expect(machines.match(/mock:\/\//g)).toHaveLength(2);
      expect(await cloud.run("What costs money", 3)).toMatch(/Machines: +2 Running/);
      const asked = cloud.rest.filter((command) => command.startsWith(tool));
      expect(asked.join("\n")).toContain(tag);
      cloud.leaveOut(tool, "no account of this cloud");
      expect(cloud.rest).toEqual([]);
    },
  );

  it("restore an older etcd: no VM is created or deleted before a user decides", async () => {
    const page = await guide("objects-were-lost");
    await page.run("Before a restore of etcd");
    expect(await argsOf()).toContain("--machine-safety-orphan-vms=report");

    await fleet.scale(5);
    const backup = fleet.server.backup();
    await fleet.untilRunning(5);
    const before = vmsOf(await fleet.machines());
    await page.run("What to back up");
    await fleet.server.restart({ restore: backup, downMs: 500 });
    const expected = "machine.millwright.dev/expected-replicas";
    await eventually(async () => {
      expect(await page.run("Check", 1)).toContain("MachinesVanished");
      expect(await kubectl(["get", "machinesets", "-o", "yaml"])).toContain(`${expected}: "5"`);
    }, LONG);
    expect(await page.run("Check", 0)).toContain("ok       CRDs");
    expect(await page.run("Check", 2)).toContain("machinedeployment.machine.sapcloud.io/fleet");
    expect(await page.run("Check", 3)).toContain("small");
    expect(await page.run("Check", 4)).toContain("machines");
    await page.run("Check", 5);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);

    expect((await page.run("Restore an export", 0)).match(/^Would create Machine /gm)).toHaveLength(3);
    expect((await page.run("Restore an export", 1)).match(/^Created Machine /gm)).toHaveLength(3);
    // Their Nodes are not in the backup either.
    expect(vmsOf(await fleet.machines())).toEqual(before);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);
    names["SET"] = (await kubectl(["get", "machinesets", "-o", "jsonpath={.items[0].metadata.name}"])).trim();
    await page.run("Decide", 0);
    // All that was held has been restored.
    expect(await page.attempt("Decide", 1)).toMatchObject({
      output: expect.stringContaining("nothing of MachineDeployment fleet is held"),
    });
    for (const start of [
      "kubectl",
      "millwright crds",
      "millwright describe",
      "millwright export",
      "millwright restore",
    ])
      page.leaveOut(start, "they are about deleted CRDs: guide-deleted-crds.test.ts runs them");
    expect(page.rest).toEqual([]);
  });
});
