import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requiredRoles } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";

const namespace = "default";
const page = new URL("../../docs/operations/migrate-from-mcm.md", import.meta.url);

/** A Deployment of MCM as Gardener has it in a control plane: the provider's container gets only arguments. */
const mcmDeployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "machine-controller-manager", namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { role: "mcm" } },
    template: {
      metadata: { labels: { role: "mcm" } },
      spec: {
        containers: [
          {
            name: "machine-controller-manager",
            image: "mcm:v0.60.2",
            command: ["./machine-controller-manager", "--control-kubeconfig=inClusterConfig", "--safety-up=2"],
          },
          {
            name: "machine-controller-manager-provider-mock",
            image: "provider:v1",
            args: [
              "--control-kubeconfig=KUBECONFIG",
              `--namespace=${namespace}`,
              "--machine-creation-timeout=20m",
              "--machine-drain-timeout=2h",
              "--machine-safety-orphan-vms-period=30m",
              "--port=0",
              "--v=3",
            ],
          },
        ],
      },
    },
  },
};

/** Controllers of a previous installation have made the machines; MCM itself is in `test/compat/go-mcm.test.ts`. */
describe("the guide to a migration from MCM", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let folder: string;
  let guide: GuideRunner;
  let kubectl: ForeignTool;
  let switched: MillwrightProcess | undefined;
  let vms: readonly string[];
  let holder = "";

  const deployed = async () => {
    const text = await kubectl(["get", "deployment", "machine-controller-manager", "--output=json"]);
    const { spec }: typeof mcmDeployment = JSON.parse(text);
    return spec.template.spec.containers;
  };

  beforeAll(async () => {
    fleet = await startControlledFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-migrate-"));
    kubectl = await createKubectl(fleet.kubeconfig);
    await kubectl(["create", "--filename=-"], JSON.stringify(mcmDeployment));
    await fleet.deploy(2);
    const before = fleet.run();
    await fleet.untilRunning(2);
    await before.stop("SIGKILL");
    vms = vmsOf(await fleet.machines());
    const names: Record<string, string> = { NAMESPACE: namespace };
    const patch = (await readFile(page, "utf8")).match(/```json\n([^]*?)```/)?.[1] ?? "";
    names["switch.json"] = join(folder, "switch.json");
    // The cloud of the test has another driver than the one of the guide.
    await writeFile(names["switch.json"], patch.replaceAll("aws", "mock"));
    guide = await readGuide("migrate-from-mcm", { kubeconfig: fleet.kubeconfig, names });
  });
  afterAll(async () => {
    await switched?.stop("SIGKILL");
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("grants a shadow what only reads, and Millwright what it needs", async () => {
    const shadow = await guide.run("Run a shadow");
    const millwright = await guide.run("Switch", 0);
    for (const [printed, isShadow] of [
      [shadow, true],
      [millwright, false],
    ] as const)
      for (const { metadata } of requiredRoles("control", namespace, { isShadow }))
        expect(printed).toContain(metadata.name);
  });

  it("checks that nothing is in the way", async () => {
    // A computer that is busy renews the short leases of the tests late.
    await eventually(() => guide.run("Check before", 0));
    expect(await guide.run("Check before", 1)).toContain("machinedeployment.machine.sapcloud.io/fleet");
  });

  it("patches the Deployment of MCM to one that runs, and keeps every VM", async () => {
    await guide.run("Switch", 1);
    const containers = await deployed();
    expect(containers).toHaveLength(1);
    const args = containers[0]?.args ?? [];
    expect([args[0], args.at(-1)]).toEqual(["run", "--provider=mock"]);
    switched = startMillwright([
      ...args.map((arg) => arg.replace("KUBECONFIG", fleet.controllersKubeconfig)),
      ...shortLeases,
    ]);
    await switched.waitFor(/"Leading"/);
    await fleet.untilRunning(2);
    expect(vmsOf(await fleet.machines())).toEqual(vms);
  });

  it("shows one leader of both Leases", async () => {
    await eventually(async () => {
      const lines = (await guide.run("Watch", 0)).split("\n").slice(1, 3);
      const holders = lines.map((line) => line.split(/\s+/)[1]);
      expect(holders[0]).toBeTruthy();
      expect(holders[1]).toBe(holders[0]);
      holder = holders[0] ?? "";
    });
    await guide.run("Watch", 1);
    await guide.run("Watch", 2);
  });

  it("releases the Leases when the Deployment of MCM is restored", async () => {
    guide.leaveOut("kubectl --namespace $NAMESPACE rollout undo", "there is no controller of Deployments here");
    await switched?.stop("SIGTERM");
    const holders = await kubectl(["get", "lease", "--output=jsonpath={.items[*].spec.holderIdentity}"]);
    expect(holders.trim().split(" ")).not.toContain(holder);
    expect(guide.rest).toEqual([]);
  });
});
