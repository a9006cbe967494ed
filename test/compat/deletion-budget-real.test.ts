import {
  annotationKeys,
  eventReasons,
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { eventResource, type KubeObject, nodeResource, secretResource } from "@millwright/kube";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { grantByClusterRole } from "../harness/grant-roles.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { commandsOf, wordsOf } from "../harness/guide-commands.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** Only catches hangs, milliseconds. */
const LONG = 120_000;

/** Real cascades, of a garbage collector and of a namespace controller, and what a person types with kubectl. */
describe("the deletion budget on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;
  let controllers: MillwrightProcess;

  beforeAll(async () => {
    fleet = await startRealFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    for (const name of ["small", "big"]) await fleet.api.create(machineClassResource, machineClass(name));
    controllers = fleet.runAlone();
  }, REAL_FLEET_MS);

  beforeEach(() => onTestFailed(() => console.log(controllers.output().slice(-8_000))));
  afterAll(() => fleet.close(), 60_000);

  const millwright = async (...args: readonly string[]): Promise<string> => {
    const command = startMillwright([...args, `--control-kubeconfig=${fleet.kubeconfig}`]);
    expect(await command.ended, command.output()).toBe(0);
    return command.output();
  };
  /** Runs the command of the guide that contains a text. */
  const runGuide = async (part: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
    const commands = [...(await commandsOf("deletion-budget")).values()].flat();
    const command = commands.find((each) => each.includes(part)) ?? "";
    const [program, ...args] = wordsOf(command.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? ""));
    expect(["kubectl", "millwright"], part).toContain(program);
    return program === "kubectl" ? kubectl(args) : millwright(...args);
  };
  const deploy = (name: string, replicas: number, namespace = "default", spec: object = {}): Promise<unknown> => {
    const made = machineDeployment(name, "small", replicas);
    return fleet.api.create(machineDeploymentResource, {
      ...made,
      metadata: { name, namespace },
      spec: { ...(made["spec"] as object), ...spec },
    });
  };
  const machines = async (namespace = "default"): Promise<readonly Machine[]> =>
    (await fleet.api.list<Machine>(machineResource, { namespace })).items;
  const namesOf = (list: readonly Machine[]): readonly string[] => list.map(({ metadata }) => metadata.name).toSorted();
  const untilRunning = (count: number, namespace = "default", className = "small"): Promise<void> =>
    eventually(async () => {
      const states = (await machines(namespace)).map((machine) => `${phaseOf(machine)} ${machine.spec.class?.name}`);
      expect(states).toEqual(Array.from({ length: count }, () => `Running ${className}`));
    }, LONG);
  const isHeld = ({ status }: Machine): boolean =>
    status?.lastOperation?.description?.startsWith("Deletion held for approval: ") === true;
  const untilMachinesHeld = (count: number, namespace = "default"): Promise<void> =>
    eventually(async () => expect((await machines(namespace)).filter(isHeld)).toHaveLength(count), LONG);
  const conditionOf = async (name: string, namespace = "default") => {
    const { status } = await fleet.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name });
    return status?.conditions?.find(({ type }) => type === "DeletionsHeld");
  };
  const untilHeld = (name: string, namespace = "default") =>
    eventually(async () => {
      const condition = await conditionOf(name, namespace);
      expect(condition).toMatchObject({ status: "True", reason: "ApprovalRequired" });
      return condition;
    }, LONG);
  const heldEvents = async (): Promise<readonly string[]> =>
    (await fleet.api.list(eventResource, { namespace: "default" })).items
      .filter((event) => event["reason"] === eventReasons.deletionsHeld)
      .map((event) => `${(event["involvedObject"] as { name: string }).name}: ${String(event["message"])}`)
      .toSorted();
  const deletedVms = (): number => fleet.cloud.calls.filter(({ operation }) => operation === "delete").length;
  /** No VM is deleted, and no Node is cordoned. */
  const expectUntouched = async (count: number, deletedBefore: number): Promise<void> => {
    expect(deletedVms()).toBe(deletedBefore);
    expect(fleet.cloud.vms()).toHaveLength(count);
    const { items } = await fleet.api.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodeResource, {});
    expect(items.map(({ spec }) => spec?.unschedulable === true)).toEqual(Array.from({ length: count }, () => false));
  };
  const untilGone = (namespace = "default"): Promise<void> =>
    eventually(async () => {
      expect(await machines(namespace)).toEqual([]);
      expect(fleet.cloud.vms()).toEqual([]);
      expect((await fleet.api.list(machineDeploymentResource, { namespace })).items).toEqual([]);
    }, LONG);

  it("lets a rolling update, a scale-down and one deleted Machine pass, and holds a scale to 0 until it is taken back", async () => {
    await deploy("pool", 12, "default", {
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
    });
    await untilRunning(12);
    const patch = JSON.stringify({ spec: { template: { spec: { class: { name: "big" } } } } });
    await kubectl(["patch", "machinedeployment", "pool", "--type=merge", "-p", patch]);
    await untilRunning(12, "default", "big");
    await kubectl(["scale", "machinedeployment", "pool", "--replicas=24"]);
    await untilRunning(24, "default", "big");
    const [first = ""] = namesOf(await machines());
    await kubectl(["delete", "machine", first, "--timeout=60s"]);
    await untilRunning(24, "default", "big");
    await kubectl(["scale", "machinedeployment", "pool", "--replicas=20"]);
    await untilRunning(20, "default", "big");
    expect(await heldEvents()).toEqual([]);

    const before = namesOf(await machines());
    const deletedBefore = deletedVms();
    await kubectl(["scale", "machinedeployment", "pool", "--replicas=0"]);
    expect((await untilHeld("pool"))?.message).toMatch(
      /^Deletion of 20 machines is held \(scale-down\): at most 1\d of/,
    );
    await expectUntouched(20, deletedBefore);
    await kubectl(["scale", "machinedeployment", "pool", "--replicas=20"]);
    await eventually(async () => expect(await conditionOf("pool")).toBeUndefined(), LONG);
    expect(namesOf(await machines())).toEqual(before);
    await expectUntouched(20, deletedBefore);

    await kubectl(["scale", "machinedeployment", "pool", "--replicas=0"]);
    await untilHeld("pool");
    await millwright("approve", "deployment", "pool", "--for=5m");
    await eventually(async () => expect(await machines()).toEqual([]), LONG);
    await eventually(async () => expect(await conditionOf("pool")).toBeUndefined(), LONG);
    await kubectl(["delete", "machinedeployment", "pool", "--timeout=60s"]);
    await untilGone();
  }, 400_000);

  it("warns each client at once that scales down, applies or deletes more than the budget allows, where the policy is applied", async () => {
    const policies = startMillwright(["admission", "-o", "json"]);
    expect(await policies.ended).toBe(0);
    await kubectl(["apply", "-f", "-"], policies.output());
    await deploy("pool", 24);
    await untilRunning(24);
    await eventually(async () => {
      const shown = await kubectl(["get", "machinedeployment", "pool", "-o", "jsonpath={.status.availableReplicas}"]);
      expect(shown).toBe("24");
    }, LONG);
    const warning = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr } = await kubectl.attempt(args);
      expect(code, stderr).toBe(0);
      return stderr.trim();
    };
    const scale = (replicas: number): Promise<string> =>
      warning("scale", "machinedeployment", "pool", `--replicas=${replicas}`, "--dry-run=server");
    const change = (change: object): Promise<string> =>
      warning("patch", "machinedeployment", "pool", "--type=merge", "-p", JSON.stringify(change), "--dry-run=server");
    const intro =
      "Warning: Validation failed for ValidatingAdmissionPolicy 'millwright-deletion-budget' with binding 'millwright-deletion-budget': ";
    const exceeds = (count: number, limit = 12): string =>
      `${intro}Deletion of ${count} machines exceeds the deletion budget: at most ${limit} of 24 machines of MachineDeployment pool may be lost within an hour. `;
    const remedy = 'of it is deleted until it is approved by "millwright approve deployment pool -n default"';
    const { maxDeletionShare, approveDeletions } = annotationKeys;
    // A policy takes a moment until it is enforced.
    await eventually(async () => expect(await scale(0)).not.toBe(""), LONG);
    expect(await scale(0)).toBe(
      `${exceeds(24)}Nothing ${remedy}, unless its annotation ${maxDeletionShare} or ${approveDeletions} allows it`,
    );
    expect(await scale(12)).toBe("");
    expect(await scale(48)).toBe("");
    expect(await change({ spec: { replicas: 4 } })).toBe(`${exceeds(20)}Nothing ${remedy}`);
    expect(await change({ spec: { replicas: 12 } })).toBe("");
    expect(await change({ metadata: { annotations: { note: "x" } } })).toBe("");
    const annotated = (annotations: object, replicas: number) => ({ metadata: { annotations }, spec: { replicas } });
    expect(await change(annotated({ [maxDeletionShare]: "100%" }, 0))).toBe("");
    expect(await change(annotated({ [maxDeletionShare]: "75" }, 2))).toBe(`${exceeds(22, 18)}Nothing ${remedy}`);
    expect(await change(annotated({ [maxDeletionShare]: "none" }, 2))).toBe(`${exceeds(22)}Nothing ${remedy}`);
    const until = "2020-01-01T00:00:00Z";
    expect(await change(annotated({ [approveDeletions]: until }, 2))).toBe(
      `${exceeds(22)}Nothing ${remedy}, unless its annotation ${approveDeletions} still approves it: ${until}`,
    );
    const lost = `${exceeds(24)}The deletion cannot be taken back; nothing ${remedy}`;
    expect(await warning("delete", "machinedeployment", "pool", "--dry-run=server")).toBe(lost);
    const [set = ""] = (await kubectl(["get", "machinesets", "-o", "name"])).trim().split("\n");
    expect(await warning("delete", set, "--dry-run=server")).toBe("");
    // The controllers scale sets of deployments themselves, and are not warned.
    await kubectl(["scale", "machinedeployment", "pool", "--replicas=12"]);
    await untilRunning(12);
    expect(controllers.output()).not.toContain("exceeds the deletion budget");

    expect(await warning("delete", "machinedeployment", "pool", "--wait=false")).toMatch(
      /Deletion of 12 machines exceeds/,
    );
    await untilMachinesHeld(12);
    await millwright("approve", "deployment", "pool", "--for=5m");
    await untilGone();
    await kubectl(["delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "--all"]);
  }, 400_000);

  it("holds kubectl delete machinedeployment --all, names it everywhere, and deletes everything once it is approved", async () => {
    for (const name of ["one", "two"]) await deploy(name, 12);
    await untilRunning(24);
    const deletedBefore = deletedVms();
    await kubectl(["delete", "machinedeployment", "--all", "--wait=false"]);
    await untilMachinesHeld(24);
    for (const name of ["one", "two"]) {
      const condition = await untilHeld(name);
      expect(condition?.message).toMatch(/^Deletion of 12 machines is held \(deletion of the owner\): /);
      expect(await kubectl(["describe", "machinedeployment", name])).toContain(`millwright approve deployment ${name}`);
      const described = await runGuide("describe deployment", { DEPLOYMENT: name });
      expect(described).toContain("12 Terminating (held)");
      expect(described).toMatch(new RegExp(`DeletionsHeld +True +${condition?.lastTransitionTime} +ApprovalRequired`));
    }
    expect((await heldEvents()).filter((event) => !event.startsWith("pool: "))).toEqual([
      expect.stringMatching(/^one: Deletion of 12 machines is held/),
      expect.stringMatching(/^two: Deletion of 12 machines is held/),
    ]);
    const [machine = ""] = namesOf(await machines());
    const described = await millwright("describe", "machine", machine);
    expect(described).toContain("Deletion held for approval: too many machines");
    expect(described).toMatch(/What you can do:\n +To approve, run "millwright approve deployment (one|two)"/);
    await expectUntouched(24, deletedBefore);

    expect(await runGuide("get events")).toContain("Deletion of 12 machines is held");
    expect(await runGuide("--dry-run")).toContain("Would approve the deletion of 12 machines of MachineDeployment one");
    await runGuide("approve deployment", { DEPLOYMENT: "one" });
    await eventually(async () => expect(namesOf(await machines())).toHaveLength(12), LONG);
    expect(await runGuide("--all --for")).toContain("Approved all deletions of MachineDeployment two");
    await untilGone();
  }, 400_000);

  it("holds the deletion of a namespace until it is approved", async () => {
    const namespace = "shoot";
    await kubectl(["create", "namespace", namespace]);
    const { data } = await fleet.api.get<KubeObject & { data?: object }>(secretResource, {
      namespace: "default",
      name: "cloud",
    });
    await fleet.api.create(secretResource, { metadata: { name: "cloud", namespace }, data });
    const secretRef = { name: "cloud", namespace };
    await fleet.api.create(machineClassResource, {
      ...machineClass("small"),
      metadata: { name: "small", namespace },
      secretRef,
    });
    await grantByClusterRole(fleet.api, namespace);
    fleet.runAlone(`--namespace=${namespace}`);
    await deploy("pool", 12, namespace);
    await untilRunning(12, namespace);
    const deletedBefore = deletedVms();
    // A terminating namespace gets no new objects, neither Events nor the next MachineSet.
    fleet.expectForbidden(/^create .*\/namespaces\/shoot\//);
    await kubectl(["delete", "namespace", namespace, "--wait=false"]);
    await untilMachinesHeld(12, namespace);
    expect((await untilHeld("pool", namespace))?.message).toMatch(/^Deletion of 12 machines is held/);
    await expectUntouched(12, deletedBefore);
    // The class, its Secret and the deployment are kept for the day of the approval.
    await kubectl(["config", "set-context", "--current", `--namespace=${namespace}`]);
    await runGuide("annotate", { DEPLOYMENT: "pool", TIME: new Date(Date.now() + 600_000).toISOString() });
    await untilGone(namespace);
    await eventually(
      async () => expect(await kubectl(["get", "namespaces", "-o", "name"])).not.toContain(`namespace/${namespace}`),
      LONG,
    );
  }, 400_000);
});
