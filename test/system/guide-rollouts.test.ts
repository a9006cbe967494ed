import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotationKeys,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

const namespace = "default";

const ofClass = (name: string): string => JSON.stringify({ spec: { template: { spec: { class: { name } } } } });

describe("the guides to previews and rollouts", () => {
  let installation: Installation;
  let kubectl: ForeignTool;
  let folder: string;
  const names: Record<string, string> = { $POOL: "fleet" };

  const classes = async (): Promise<readonly string[]> =>
    (await installation.machines())
      .map(({ spec, status }) => `${spec.class?.name} ${status?.currentStatus?.phase}`)
      .toSorted();
  const run = async (command: string): Promise<{ readonly code: number; readonly output: string }> => {
    const filled = Object.entries(names).reduce((text, [name, value]) => text.replaceAll(name, value), command);
    const [program, ...words] = wordsOf(filled);
    if (program === "millwright") {
      const millwright = startMillwright(words, { KUBECONFIG: installation.kubeconfig });
      const code = await millwright.ended;
      return { code, output: millwright.output() };
    }
    expect(program).toBe("kubectl");
    const to = words.indexOf(">");
    const output = await kubectl(to === -1 ? words : words.slice(0, to));
    if (to !== -1) await writeFile(words[to + 1] ?? "", output);
    return { code: 0, output };
  };
  const commandOf = async (guide: string, heading: string, index = 0): Promise<string> =>
    (await commandsOf(guide)).get(heading)?.[index] ?? "";
  const rollout = async (heading: string, index = 0) => run(await commandOf("rollouts", heading, index));
  const setOf = async (className: string): Promise<MachineSet | undefined> => {
    const { items } = await installation.api.list<MachineSet>(machineSetResource, { namespace });
    return items.find(({ spec }) => spec.template.spec.class?.name === className);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-plan-"));
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
    for (const name of ["example", "example-large"])
      await installation.api.create(machineClassResource, machineClass(name));
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "example", 3));
    names["$STATE"] = join(folder, "state.yaml");
    names["$FILE"] = join(folder, "new.json");
    await writeFile(names["$FILE"], JSON.stringify(machineDeployment("fleet", "example-large", 3)));
    installation.runAlone();
    await eventually(async () => {
      if ((await classes()).filter((each) => each === "example Running").length < 3) throw new Error("not all run");
    }, 60_000);
    names["$MACHINE"] = (await installation.machines())[0]?.metadata.name ?? "";
  });
  afterAll(async () => {
    await installation.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("show the effects of changes, from the cluster and from files, and write nothing", async () => {
    const guide = await commandsOf("previewing-changes");
    const [apply = "", scale = "", remove = "", removeOne = ""] = guide.get("Plan a change") ?? [];
    const [timed = ""] = guide.get("Read a plan") ?? [];
    const [save = "", fromFile = ""] = guide.get("Without a cluster") ?? [];
    const before = await installation.machines();

    const replaced = await run(apply);
    expect(replaced.code, replaced.output).toBe(3);
    expect(replaced.output).toContain("the time of a drain and deletion is unknown");
    expect(replaced.output).toMatch(
      /create MachineSet fleet-\w+ of class example-large\n\s+create 1 machine in fleet-/,
    );
    expect(replaced.output).toContain("3 of 3 nodes can be drained without blockers");
    expect((await run(scale)).output).toContain("create 2 machines in fleet-");
    expect((await run(remove)).output).toMatch(/delete fleet-\S+ \(node /);
    const one = await run(removeOne);
    expect(one.output).toContain("create 1 machine in fleet-");
    expect(one.output).toMatch(new RegExp(`Deleted by the change itself:\\n\\s+${names["$MACHINE"]} \\(node `));
    expect((await run(timed)).output).toContain("39m0s; 3m0s for a machine to join; 10m0s for a drain and deletion");

    await run(save);
    const { output, code } = await run(fromFile);
    expect(code, output).toBe(3);
    expect(output).toContain("create 2 machines in fleet-");

    const idle = await run("millwright plan --scale fleet=3");
    expect(idle.code, idle.output).toBe(0);
    expect((await installation.machines()).map(({ metadata }) => metadata.resourceVersion)).toEqual(
      before.map(({ metadata }) => metadata.resourceVersion),
    );
  });

  it("pause a rollout at canary steps", async () => {
    await rollout("Canary steps", 0);
    await rollout("Canary steps", 1);
    await eventually(
      async () =>
        expect(await classes()).toEqual(["example Running", "example-large Running", "example-large Running"]),
      60_000,
    );
    const set = await setOf("example-large");
    names["$SET"] = set?.metadata.name ?? "";
    names["$REVISION"] = set?.metadata.annotations?.[annotationKeys.revision] ?? "";
    await eventually(async () =>
      expect((await rollout("What it waits for")).output).toContain(
        `Rollout is paused at canary step 2 of 2 with 2 new machines: to continue, annotate the MachineDeployment with machine.millwright.dev/canary-continue=${names["$REVISION"]}/2`,
      ),
    );
    const shown = await run("millwright plan --scale fleet=3");
    expect(shown.output).toContain("Rollout is paused at canary step 2 of 2");
    await rollout("Canary steps", 2);
    await eventually(async () => expect(await classes()).toEqual(Array(3).fill("example-large Running")), 60_000);
    // Nothing failed: there is no annotation to remove, which kubectl accepts.
    await rollout("Canary steps", 3);
  });

  it("estimate the duration of drains from the previous rollout", async () => {
    // Events are written asynchronously: the last one may come after the end of the rollout.
    await eventually(async () => {
      const { output } = await run("millwright plan --scale fleet=2");
      expect(output).toMatch(
        /Expected:\s+\d\S*; .* to join, .*; \d\S* for a drain and deletion, the median of [1-3] from events/,
      );
    }, 60_000);
    const { output } = await run("millwright plan --scale fleet=2 -o json");
    expect(JSON.parse(output)).toMatchObject({
      changes: [{ durations: { deletionMs: expect.any(Number), finishedDeletions: expect.any(Number) } }],
    });
    await run((await commandsOf("previewing-changes")).get("Without a cluster")?.[0] ?? "");
    const fromFile = await run("millwright plan --state $STATE --scale $POOL=2");
    expect(fromFile.output).toMatch(/for a drain and deletion, the median of [1-3] from events/);
  });

  it("replace machines only when they are deleted, and all once the annotation is removed", async () => {
    await rollout("On deletion", 0);
    await rollout("On deletion", 1);
    await eventually(async () =>
      expect((await rollout("What it waits for")).output).toContain(
        "Old machines are replaced only when they are deleted",
      ),
    );
    names["$MACHINE"] = (await installation.machines())[0]?.metadata.name ?? "";
    await rollout("On deletion", 2);
    await eventually(
      async () =>
        expect(await classes()).toEqual(["example Running", "example-large Running", "example-large Running"]),
      60_000,
    );
    await rollout("On deletion", 3);
    await eventually(async () => expect(await classes()).toEqual(Array(3).fill("example Running")), 60_000);
  });

  it("set windows and minReadySeconds, and report invalid values", async () => {
    await rollout("Maintenance windows");
    await rollout("minReadySeconds");
    const valid = async (): Promise<string | undefined> => {
      const { status } = await installation.api.get<MachineDeployment>(machineDeploymentResource, {
        namespace,
        name: "fleet",
      });
      return status?.conditions?.find(({ type }) => type === "SpecValid")?.message;
    };
    await kubectl([
      "annotate",
      "machinedeployment",
      "fleet",
      "machine.millwright.dev/maintenance-windows=x",
      "--overwrite",
    ]);
    await eventually(async () => expect(await valid()).toContain("`x` is not a window"));
    await rollout("Maintenance windows").catch(() => undefined);
    await kubectl(["annotate", "machinedeployment", "fleet", "machine.millwright.dev/maintenance-windows-"]);
    await eventually(async () => expect(await valid()).toBe(""));
  });

  it("pause a rollout, wait for its end, and roll back", async () => {
    const heading = "Pause, wait, roll back";
    await rollout(heading, 0);
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", ofClass("example-large")]);
    await eventually(async () => expect((await rollout("What it waits for")).output).toContain("* Rollout is paused"));
    expect(await classes()).toEqual(Array(3).fill("example Running"));
    await rollout(heading, 1);
    await rollout(heading, 2);
    expect(await classes()).toEqual(Array(3).fill("example-large Running"));
    expect((await rollout(heading, 3)).output).toMatch(/fleet-\w+ \(current\) +\d+ +example-large +3/);
    await rollout(heading, 4);
    await eventually(async () => expect(await classes()).toEqual(Array(3).fill("example Running")), 60_000);
  });

  it("have no untested commands", async () => {
    const counts = await Promise.all(
      ["previewing-changes", "rollouts"].map(async (guide) =>
        [...(await commandsOf(guide))].map(([heading, commands]) => `${heading} ${commands.length}`),
      ),
    );
    expect(counts).toEqual([
      ["Plan a change 4", "Read a plan 1", "Without a cluster 2"],
      [
        "What it waits for 1",
        "Pause, wait, roll back 5",
        "Canary steps 4",
        "On deletion 4",
        "Maintenance windows 1",
        "minReadySeconds 1",
      ],
    ]);
  });
});
