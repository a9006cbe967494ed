import { type MachineDeployment, machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { customResourceDefinitionResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const ref = { namespace: "default", name: "fleet" };

/** `kubectl wait` and `rollout status` on our conditions. */
describe("the conditions of a deployment, with kubectl 1.35", () => {
  let fleet: ControlledFleet;
  let kubectl: ForeignTool;

  afterEach(() => fleet.close());

  const start = async (): Promise<void> => {
    fleet = await startControlledFleet({ bootDelayMs: 50, deleteDelayMs: 50 });
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("large"));
  };
  const conditions = async (): Promise<NonNullable<NonNullable<MachineDeployment["status"]>["conditions"]>> =>
    (await fleet.api.get<MachineDeployment>(machineDeploymentResource, ref)).status?.conditions ?? [];
  /** Applies the deployment with a class, and waits until kubectl regards the rollout as complete. */
  const rollOut = async (className: string): Promise<void> => {
    await kubectl(["apply", "-f", "-"], JSON.stringify(machineDeployment("fleet", className, 2)));
    await kubectl(["wait", "--for=condition=RollingOut=false", "machinedeployment/fleet", "--timeout=60s"]);
  };
  const classes = async (): Promise<readonly (string | undefined)[]> =>
    (await fleet.machines())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.class?.name);

  it("never ends a wait for a rollout before the rollout starts", async () => {
    await start();
    fleet.run();
    await rollOut("small");
    await fleet.untilRunning(2);
    for (const className of ["large", "small", "large"]) {
      await rollOut(className);
      expect(await classes()).toEqual([className, className]);
    }
    await kubectl(["wait", "--for=condition=MachinesReady", "machinedeployment/fleet", "--timeout=60s"]);
    await kubectl(["wait", "--for=condition=ScalingDown=false", "machinedeployment/fleet", "--timeout=60s"]);
    const [first] = await conditions();
    expect(first).toMatchObject({ type: "Available", reason: "MinimumReplicasAvailable" });
    expect(
      (await conditions()).map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
    ).toEqual([
      ["Available", "True", undefined],
      ["Progressing", "True", undefined],
      ["RollingOut", "False", 4],
      ["Remediating", "False", 4],
      ["ScalingDown", "False", 4],
      ["ScalingUp", "False", 4],
      ["MachinesReady", "True", 4],
      ["MachinesUpToDate", "True", 4],
      ["SpecValid", "True", 4],
      ["Paused", "False", 4],
      ["Deleting", "False", 4],
      ["Ready", "True", 4],
    ]);
  });

  it("works with MCM's CRDs, which have no observedGeneration in conditions, without repeated writes", async () => {
    await start();
    const crd = { name: "machinedeployments.machine.sapcloud.io" };
    const at = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions/items/properties";
    await fleet.api.patch(customResourceDefinitionResource, crd, [{ op: "remove", path: `${at}/observedGeneration` }], {
      kind: "json",
    });
    fleet.run();
    await rollOut("small");
    await fleet.untilRunning(2);
    await rollOut("large");
    expect(await classes()).toEqual(["large", "large"]);
    await kubectl(["wait", "--for=condition=MachinesReady", "machinedeployment/fleet", "--timeout=60s"]);
    expect((await conditions()).every((condition) => condition.observedGeneration === undefined)).toBe(true);
    const statusWrites = (): number =>
      fleet
        .requests()
        .filter(({ resource, subresource }) => resource === "machinedeployments" && subresource === "status").length;
    const before = await untilQuiet(statusWrites);
    expect(before).toBeGreaterThan(0);
    // A label of another client causes a reconcile that writes nothing.
    await kubectl(["label", "machinedeployment", "fleet", "team=blue"]);
    expect(await untilQuiet(statusWrites)).toBe(before);
  });

  it("are only MCM's without the flag, and others are removed in one write", async () => {
    await start();
    const controllers = fleet.run();
    await rollOut("small");
    await fleet.untilRunning(2);
    await kubectl(["wait", "--for=condition=MachinesReady", "machinedeployment/fleet", "--timeout=60s"]);
    await controllers.stop();
    fleet.run("--no-cluster-api-conditions");
    await eventually(async () =>
      expect((await conditions()).map(({ type }) => type)).toEqual(["Available", "Progressing"]),
    );
    expect(JSON.parse(await kubectl(["get", "machinesets", "-o", "json"]))).toMatchObject({
      items: [{ status: { machineSetCondition: [] } }],
    });
  });
});

/** `kubectl wait` and `kubectl get` on the conditions that are stored on machines. */
describe("the conditions of a machine, with kubectl 1.35", () => {
  it("are waited for, shown as a reason, and changed by a new template", async () => {
    const fleet = await startControlledFleet({ bootDelayMs: 50, deleteDelayMs: 50 });
    try {
      const kubectl = await createKubectl(fleet.kubeconfig);
      const apply = (deployment: object): Promise<string> => kubectl(["apply", "-f", "-"], JSON.stringify(deployment));
      // Old machines stay: a paused deployment replaces none.
      const workers = machineDeployment("fleet", "small", 2);
      await apply(workers);
      fleet.run();
      await fleet.untilRunning(2);
      const selected = ["machine", "-l", "name=fleet", "--timeout=60s"];
      await kubectl(["wait", "--for=condition=MachineReady", ...selected]);
      await kubectl(["wait", "--for=condition=UpToDate", ...selected]);
      const header = ["NAME", "STATUS", "AGE", "NODE", "REASON"];
      const [columns, ...rows] = (await kubectl(["get", "machines"])).trim().split("\n");
      expect(columns?.split(/\s+/)).toEqual(header);
      expect(rows.map((row) => row.split(/\s+/)).map((cells) => [cells[1], cells[4]])).toEqual([
        ["Running", "Ready"],
        ["Running", "Ready"],
      ]);

      await apply({
        ...workers,
        spec: Object.assign({ paused: true }, machineDeployment("fleet", "large", 2)["spec"]),
      });
      await kubectl(["wait", "--for=condition=UpToDate=false", ...selected]);
      await kubectl(["wait", "--for=condition=MachineReady", ...selected]);
    } finally {
      await fleet.close();
    }
  });
});
