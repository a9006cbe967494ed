import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { type GuideRunner, readGuide } from "../harness/guide-runner.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";

const LONG = 90_000;

describe("a day with a pool", { timeout: 300_000 }, () => {
  let fleet: ControlledFleet;
  let folder: string;
  let page: GuideRunner;
  const names: Record<string, string> = { NAMESPACE: "default", DRIVER: "mock", IMAGE: "registry.example/millwright" };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-day-"));
    fleet = await startControlledFleet();
    const files = {
      "class.yaml": machineClass("small"),
      "pool.yaml": machineDeployment("pool", "small", 3),
      "class-big.yaml": machineClass("big"),
      "pool-big.yaml": machineDeployment("pool", "big", 4),
    };
    for (const [file, object] of Object.entries(files)) {
      names[file] = join(folder, file);
      await writeFile(names[file], JSON.stringify(object));
    }
    page = await readGuide("a-day-with-a-pool", { kubeconfig: fleet.kubeconfig, names, folder: "guides" });
  });
  afterAll(async () => {
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("goes from a cluster without Millwright to a pool and back", async () => {
    expect(await page.run("9:00 Install", 0)).toContain("STATUS: deployed");
    // The pod of the chart is this process here.
    const controllers = fleet.run();
    expect(await page.run("9:00 Install", 1)).toContain("ok       CRDs");

    await page.run("9:15 The first Nodes", 0);
    expect(await page.run("9:15 The first Nodes", 1)).toContain("MachineClass small");
    await page.run("9:15 The first Nodes", 2);
    await page.run("9:15 The first Nodes", 3);
    expect((await page.run("9:15 The first Nodes", 4)).match(/Running/g)).toHaveLength(3);

    await page.run("10:00 More load", 0);
    await page.run("10:00 More load", 1);
    await fleet.untilRunning(4);

    const before = (await fleet.machines()).map(({ metadata }) => metadata.name);
    await page.run("11:00 Another type of VM", 0);
    // Status 3: there are changes.
    expect(await page.attempt("11:00 Another type of VM", 1)).toMatchObject({
      output: expect.stringContaining("pool"),
    });
    await page.run("11:00 Another type of VM", 2);
    await page.run("11:00 Another type of VM", 3);
    await fleet.untilRunning(4);
    const machines = await fleet.machines();
    expect(machines.filter(({ metadata }) => before.includes(metadata.name))).toEqual([]);

    const [machine] = machines;
    names["MACHINE"] = machine?.metadata.name ?? "";
    names["NODE"] = machine?.metadata.labels?.["node"] ?? "";
    expect(await page.run("14:00 A machine misbehaves", 0)).toContain("is as desired");
    expect(await page.run("14:00 A machine misbehaves", 1)).toContain(names["NODE"]);
    await page.run("14:00 A machine misbehaves", 2);
    await eventually(async () => {
      expect((await fleet.machines()).map(({ metadata }) => metadata.name)).not.toContain(names["MACHINE"]);
    }, LONG);
    await fleet.untilRunning(4);

    await page.run("18:00 Scale to zero", 0);
    await page.run("18:00 Scale to zero", 1);
    await fleet.untilGone();

    await page.run("19:00 Remove everything", 0);
    expect(await controllers.stop("SIGTERM")).toBe(0);
    await page.run("19:00 Remove everything", 1);
    await page.run("19:00 Remove everything", 2);
    expect(page.rest).toEqual([]);
  });
});
