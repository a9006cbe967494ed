import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

describe("the commands of the guides", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;
  let kubectl: ForeignTool;
  let machineName: string;
  let nodeName: string;

  const run = (command: string): Promise<string> => {
    const [program, ...words] = wordsOf(command);
    expect(program).toBe("kubectl");
    return kubectl(words.map((word) => word.replaceAll("$MACHINE", machineName).replaceAll("$NODE", nodeName)));
  };
  const all = async (): Promise<readonly Machine[]> =>
    (await installation.api.list<Machine>(machineResource, { namespace: "default" })).items;
  const runs = (): Promise<void> =>
    eventually(async () => {
      const [machine, ...more] = await all();
      expect(more).toEqual([]);
      expect(machine?.status?.currentStatus?.phase).toBe("Running");
      machineName = machine?.metadata.name ?? "";
      nodeName = machine?.metadata.labels?.["node"] ?? "";
    }, 60_000);

  beforeEach(async () => {
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    const flags = ["--provider=mock", "--no-leader-elect", "--control-kubeconfig", installation.controllersKubeconfig];
    controllers = startMillwright(["run", ...flags]);
    await runs();
  });

  afterEach(async () => {
    await controllers.stop("SIGKILL");
    await installation.close();
  });

  it("preserve a machine, show it, and end the preservation", async () => {
    const guide = await commandsOf("preserving-machines");
    const [whenFailed = "", now = ""] = guide.get("Preserve a machine") ?? [];
    const [phase = "", message = "", events = ""] = guide.get("Status") ?? [];
    const [stop = "", forget = ""] = guide.get("Stop") ?? [];
    await run(now);
    await eventually(async () => expect(await run(phase)).toMatch(/^Running \d{4}-\d\d-\d\dT/));
    await run(whenFailed);
    // From now on the annotation of the Node takes precedence, and the machine runs.
    await eventually(async () => expect(await run(phase)).toBe("Running "));
    await run(forget);

    // Without the annotation no preservation is requested; it is set again before the machine fails.
    await run(whenFailed);
    const condition = {
      type: "KernelDeadlock",
      status: "True",
      reason: "Test",
      lastTransitionTime: new Date().toISOString(),
    };
    const options = { kind: "strategic", subresource: "status" } as const;
    await installation.api.patch(nodeResource, { name: nodeName }, { status: { conditions: [condition] } }, options);
    await eventually(async () => expect(await run(phase)).toBe("Unknown "));
    const status = { currentStatus: { phase: "Failed", lastUpdateTime: "2026-01-01T00:00:00Z" } };
    const ref = { namespace: "default", name: machineName };
    await installation.api.patch(machineResource, ref, { status }, { kind: "merge", subresource: "status" });
    await eventually(async () =>
      expect(await run(message)).toMatch(/^Preserved node drained successfully\. Machine preserved until .*Z\.$/),
    );
    expect(await run(phase)).toMatch(/^Failed \d{4}-\d\d-\d\dT/);
    await eventually(async () => expect(await run(events)).toContain("PreservedNodeDrained"));

    const before = machineName;
    await run(stop);
    await eventually(async () => expect((await all()).map(({ metadata }) => metadata.name)).not.toContain(before));
    await runs();
  });

  it("update a machine in place", async () => {
    const guide = await commandsOf("in-place-updates");
    const [candidate = "", select = "", wait = "", force = ""] = guide.get("Begin") ?? [];
    const [success = "", because = "", failure = ""] = guide.get("What the agent does") ?? [];
    const [state = ""] = guide.get("Status of the machine") ?? [];
    await run(force);
    await run(candidate);
    await run(select);
    await run(wait);
    await eventually(async () =>
      expect(await run(state)).toBe(`InPlaceUpdating: Machine ${machineName} is undergoing an in-place update`),
    );
    await run(because);
    await run(failure);
    await eventually(async () =>
      expect(await run(state)).toBe(
        `InPlaceUpdateFailed: Machine ${machineName} failed to update dependencies: disk is full`,
      ),
    );
    await run(`${success} --overwrite`);
    await runs();
    for (const command of guide.get("End") ?? []) await run(command);
    const node = await installation.api.get(nodeResource, { name: nodeName });
    expect(node).not.toHaveProperty("spec.unschedulable");
    expect(Object.keys(node.metadata.labels ?? {}).filter((key) => key.includes("update"))).toEqual([]);
  });

  it("are all run by these tests", async () => {
    const counts = await Promise.all(
      ["preserving-machines", "in-place-updates"].map(async (guide) =>
        [...(await commandsOf(guide)).entries()].map(([heading, commands]) => `${heading} ${commands.length}`),
      ),
    );
    expect(counts).toEqual([
      ["Preserve a machine 2", "Status 3", "Stop 2"],
      ["Begin 4", "What the agent does 3", "Status of the machine 1", "End 2"],
    ]);
  });
});
