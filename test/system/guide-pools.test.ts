import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { readGuide } from "../harness/guide-runner.ts";
import { machineClass } from "../harness/installation.ts";

const LONG = 90_000;

describe("the guides to pools and to safety", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let kubectl: ForeignTool;
  let folder: string;
  const names: Record<string, string> = { POOL: "fleet", DEPLOYMENT: "fleet", CLASS: "big" };

  const nodes = (...args: readonly string[]): Promise<string> => kubectl(["get", "nodes", ...args]);
  const victim = async (): Promise<string> => (await fleet.machines())[0]?.metadata.name ?? "";
  const namesOfMachines = async () => (await fleet.machines()).map(({ metadata }) => metadata.name);

  /** Waits for a machine whose Node has the startup taint of the guide, and names both. */
  const untilPending = (): Promise<void> =>
    eventually(async () => {
      const tainted = await nodes(
        "-o",
        'jsonpath={.items[?(@.spec.taints[*].key=="node.cilium.io/agent-not-ready")].metadata.name}',
      );
      const pending = (await fleet.machines()).filter(({ status }) => status?.currentStatus?.phase === "Pending");
      expect(pending.map(({ metadata }) => metadata.labels?.["node"])).toEqual([tainted]);
      names["MACHINE"] = pending[0]?.metadata.name ?? "";
      names["NODE"] = tainted;
    }, LONG);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-pools-"));
    fleet = await startControlledFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    names["class.yaml"] = join(folder, "class.json");
    await writeFile(names["class.yaml"], JSON.stringify(machineClass("big")));
    await fleet.deploy(3);
    fleet.run();
    await fleet.untilRunning(3);
  });
  afterAll(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("scale, change, label, replace and delete", async () => {
    const page = await readGuide("pools", { kubeconfig: fleet.kubeconfig, names, folder: "guides" });
    expect(await page.run("See the pool", 0)).toContain("machinedeployment.machine.sapcloud.io/fleet");
    expect(await page.run("See the pool", 1)).toContain("fleet");
    await page.run("Scale a pool", 0);
    await fleet.untilRunning(4);
    names["MACHINE"] = await victim();
    await page.run("Scale a pool", 1);
    await page.run("Scale a pool", 2);
    await fleet.untilRunning(3);
    expect(await namesOfMachines()).not.toContain(names["MACHINE"]);

    const before = await namesOfMachines();
    const labels = "Labels, annotations and taints of Nodes";
    await page.run(labels, 0);
    await eventually(async () => expect((await page.run(labels, 1)).match(/Ready/g)).toHaveLength(3), LONG);
    await eventually(async () => {
      const taints = await nodes("-o", "jsonpath={.items[*].spec.taints[?(@.key=='tier')].effect}");
      expect(taints).toBe("NoSchedule NoSchedule NoSchedule");
    }, LONG);
    await page.run(labels, 2);
    await eventually(async () => {
      expect(await nodes("-l", "tier=web", "-o", "name")).toBe("");
      expect(await nodes("-o", "jsonpath={.items[*].spec.taints[?(@.key=='tier')].effect}")).toBe("");
    }, LONG);
    expect(await namesOfMachines()).toEqual(before);

    for (const index of [0, 1, 2]) await page.run("Change the VMs", index);
    await fleet.untilRunning(3);
    const machines = await fleet.machines();
    expect(machines.map(({ spec }) => spec.class?.name)).toEqual(["big", "big", "big"]);

    await page.run("Startup taints", 0);
    const awaited = "startup taint node.cilium.io/agent-not-ready:NoSchedule to be removed from Node";
    for (let replaced = 0; replaced < 3; replaced++) {
      await untilPending();
      // No Node in service is replaced by one that takes no pods.
      const serving = (await fleet.machines()).filter(({ status }) => status?.currentStatus?.phase === "Running");
      expect(serving).toHaveLength(3);
      const { output } = await page.attempt("Startup taints", 1);
      expect(output.replaceAll(/\s+/g, " ")).toContain(`Waiting for ${awaited} ${names["NODE"]}`);
      await page.run("Startup taints", 2);
    }
    await fleet.untilRunning(3);
    const old = machines.map(({ metadata }) => metadata.name);
    expect((await namesOfMachines()).filter((name) => old.includes(name))).toEqual([]);
    expect(await nodes("-o", "jsonpath={.items[*].spec.taints[*].key}")).toBe("");

    names["MACHINE"] = await victim();
    await page.run("Replace one machine", 0);
    await eventually(async () => expect(await namesOfMachines()).not.toContain(names["MACHINE"]), LONG);
    await untilPending();
    await page.run("Startup taints", 2);
    await fleet.untilRunning(3);
    await page.run("Delete the pool", 0);
    await fleet.untilGone();
    expect(page.rest).toEqual([]);
  });

  it("protect machines from deletion, and approve held deletions", async () => {
    const page = await readGuide("safety", { kubeconfig: fleet.kubeconfig, names, folder: "guides" });
    await fleet.deploy(12);
    await fleet.untilRunning(12);
    names["MACHINE"] = await victim();
    const protection = "Deletion protection";
    await page.run(protection, 0);
    await page.run(protection, 1);
    const reasons = (): Promise<string> => kubectl(["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    await kubectl(["delete", "machine", names["MACHINE"], "--wait=false"]);
    await eventually(async () => expect(await reasons()).toMatch(/DeletionPaused/), LONG);
    expect(await namesOfMachines()).toContain(names["MACHINE"]);
    await page.run(protection, 2);
    await eventually(async () => expect(await namesOfMachines()).not.toContain(names["MACHINE"]), LONG);
    await fleet.untilRunning(12);
    await kubectl(["delete", "machinedeployment", "fleet", "--wait=false"]);
    await eventually(async () => expect(await reasons()).toMatch(/DeletionProtected/), LONG);
    expect(fleet.cloud.vms()).toHaveLength(12);
    expect(await page.run(protection, 3)).toContain("validatingadmissionpolicy");
    await kubectl(["annotate", "machinedeployment", "fleet", "machine.millwright.dev/deletion-protection-"]);

    const budget = await readGuide("deletion-budget", { kubeconfig: fleet.kubeconfig, names, folder: "guides" });
    const held = "What is held";
    await eventually(async () => expect(await budget.run(held, 0)).toContain("DeletionsHeld"), LONG);
    expect(await budget.run(held, 1)).toContain("DeletionsHeld");
    expect(await budget.run(held, 2)).toContain("fleet");
    expect(await budget.run("The warning", 0)).toContain("validatingadmissionpolicy");
    expect(await budget.run("The warning", 1)).toContain("scaled (server dry run)");
    expect(fleet.cloud.vms()).toHaveLength(12);
    const approve = "Approve held deletions";
    await budget.run(approve, 0);
    await budget.run(approve, 1);
    names["TIME"] = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
    // The deployment may be deleted by then, or its machines.
    for (const [heading, at] of [
      [approve, 2],
      [approve, 3],
      ["A share for one pool", 0],
    ] as const) {
      const { status, output } = await budget.attempt(heading, at);
      expect(`${status} ${output}`).toMatch(/^0 |not found|there is no|nothing of .* is held/);
    }
    await fleet.untilGone();
    expect(budget.rest).toEqual([]);
    expect(await page.run("A VM without machine", 0).catch(() => "no VM in quarantine")).not.toContain("i-");
    expect(await page.run("Bulkheads", 0)).toContain("mock");
    expect(page.rest).toEqual([]);
  });
});
