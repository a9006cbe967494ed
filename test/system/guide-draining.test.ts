import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { aBarePod, aBudget, aDeployment, aStatefulSet, storageClass } from "../harness/manifests.ts";
import { startMillwright } from "../harness/millwright.ts";

describe("the guide to draining", () => {
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;
  let guide: ReadonlyMap<string, readonly string[]>;

  const run = async (command: string): Promise<string> => {
    const names = command.replaceAll("$MACHINE", machine).replaceAll("$NODE", node).replaceAll("$POD", "job");
    const [program, ...words] = wordsOf(names);
    if (program === "kubectl") return fleet.kubectl(words);
    expect(program).toBe("millwright");
    const millwright = startMillwright(words, { KUBECONFIG: fleet.kubeconfig });
    await millwright.ended;
    return millwright.output();
  };

  beforeAll(async () => {
    guide = await commandsOf("draining");
    fleet = await startDrainingFleet(2);
    ({ machine, node } = await fleet.victim());
    await fleet.fillNode(
      node,
      6,
      storageClass,
      aStatefulSet("db", 2),
      aDeployment("web", 3),
      aBudget("web", { maxUnavailable: 0 }),
      aBarePod("job", node, {
        annotations: { "simulation.millwright.dev/finish-after-seconds": "600" },
        spec: { restartPolicy: "Never" },
      }),
    );
  });
  afterAll(() => fleet.close());

  it("has commands that preview, configure, start, explain and force a drain", async () => {
    const [look = ""] = guide.get("Dry run") ?? [];
    const [rules = "", label = ""] = guide.get("Rules") ?? [];
    const [start = ""] = guide.get("Start") ?? [];
    const [description = "", events = ""] = guide.get("What blocks a drain") ?? [];
    const [force = ""] = guide.get("What ends a drain") ?? [];
    await run(rules);
    await run(label);
    await eventually(async () => expect(await run(look)).toContain("PodDisruptionBudget default/web can never be met"));
    const preview = await run(look);
    expect(preview).toMatch(/default\/job\s+waited for\s+runs to completion\s+0/);
    expect(preview).toMatch(/default\/db-0\s+evicted\s+its controller recreates it\s+10/);

    await run(start);
    await eventually(async () => {
      expect(await run(description)).toContain("PodDisruptionBudget default/web can never be met: maxUnavailable is 0");
      expect(await run(description)).toContain("default/job: waiting for completion");
      expect(await run(events)).toContain("PodDisruptionBudget default/web can never be met");
    });
    // Pods of order 10 wait for the service, whose budget blocks.
    expect(fleet.evicted()).toEqual([]);
    fleet.invariants.allowForce();
    await run(force);
    await fleet.untilMachineDeleted(machine);
    await fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=60s"]);
    await fleet.invariants.check();
  });

  it("has no untested commands", () => {
    expect([...guide].map(([heading, commands]) => `${heading} ${commands.length}`)).toEqual([
      "Dry run 1",
      "Start 1",
      "Rules 2",
      "What blocks a drain 2",
      "What ends a drain 1",
    ]);
  });
});
