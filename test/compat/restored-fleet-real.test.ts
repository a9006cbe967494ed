import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  eventReasons,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { eventResource, type KubeObject, secretResource } from "@millwright/kube";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFailed } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { loseFleet } from "../harness/restored-fleet.ts";
import { untilQuiet } from "../harness/until-quiet.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const namespace = "default";
/** Only catches hangs, milliseconds. */
const LONG = 240_000;

/** How long after machines are missed a list of VMs shows that they have none, milliseconds. */
const SETTLED_MS = 60_000;

const ownersFirst = "machinedeployments,machinesets,machines";
/** The order of the names of the kinds. */
const asVelero = "machinedeployments,machines,machinesets";

const messageOf = (event: KubeObject): string => String(event["message"]);
/** The command lines that a report offers. */
const commandsIn = (report: string): readonly string[] =>
  [...report.matchAll(/^ +\$ (.*)$/gm)].map(([, line = ""]) => line);

/** What `kubectl get -o json` printed, applied after the objects were lost, beside a real garbage collector: the owners in it do not exist. */
describe("a fleet that is restored from a raw export on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;
  let controllers: MillwrightProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-restored-fleet-"));
    return () => rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    fleet = await startRealFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("small"));
    controllers = fleet.runAlone();
    onTestFailed(() => console.log(controllers.output().slice(-8_000)));
  }, REAL_FLEET_MS);
  afterEach(() => fleet.close(), 60_000);

  const millwright = async (status: number, ...args: readonly string[]): Promise<string> => {
    const command = startMillwright([...args, `--control-kubeconfig=${fleet.kubeconfig}`]);
    expect(await command.ended, command.output()).toBe(status);
    return command.output();
  };
  const callsOf = (wanted: string): number => fleet.cloud.calls.filter(({ operation }) => operation === wanted).length;
  const isTerminating = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;
  const isRunning = (machine: Machine): boolean => !isTerminating(machine) && phaseOf(machine) === "Running";
  const isHeld = (machine: Machine): boolean =>
    isTerminating(machine) && /^Deletion held: it.* Was Machine/.test(machine.status?.lastOperation?.description ?? "");
  /** Waits until all machines are in one of the states. */
  const until = (count: number, ...states: readonly ((machine: Machine) => boolean)[]): Promise<readonly Machine[]> =>
    eventually(async () => {
      const machines = await fleet.machines();
      const others = machines.filter((machine) => !states.some((state) => state(machine)));
      const shown = others.map(({ metadata, status }) => [metadata.name, metadata.deletionTimestamp, status]);
      expect([machines.length, shown]).toEqual([count, []]);
      return machines;
    }, LONG);
  const listsAfter = (ms: number): number =>
    fleet.cloud.calls.filter(({ operation, at }) => operation === "list" && at.getTime() > ms).length;
  const expectKept = (before: readonly string[]): void => {
    expect(fleet.cloud.vms()).toHaveLength(before.length);
    expect([callsOf("create"), callsOf("delete")]).toEqual([before.length, 0]);
  };

  /** The hold is shown wherever one looks, with the way out first. */
  const expectExplained = async (held: readonly Machine[]): Promise<void> => {
    const names = held.map(({ metadata }) => metadata.name);
    await eventually(async () => {
      const { items } = await fleet.api.list(eventResource, { namespace });
      const messages = items.filter((event) => event["reason"] === eventReasons.deletionsHeld).map(messageOf);
      const asked = messages.flatMap(
        (message) => /Was Machine (\S+) restored from a backup\?/.exec(message)?.[1] ?? [],
      );
      expect(new Set(asked)).toEqual(new Set(names));
    });
    const commands = (approve: string) => ["millwright restore FILE", approve].map((line) => `${line} -n default`);
    await eventually(async () => {
      const why = await millwright(3, "why", "deployment/pool");
      expect(why).toContain("MachineDeployment default/pool is stuck");
      const what = `Deletion of ${held.length} machines is held: their owner does not exist`;
      expect(why.replaceAll(/\s+/g, " ")).toContain(what);
      expect(commandsIn(why)).toEqual(commands("millwright approve deployment pool"));
    });
    const [name = ""] = names;
    const whyHeld = await millwright(3, "why", `machine/${name}`);
    expect(commandsIn(whyHeld)).toEqual(commands(`millwright approve machine ${name}`));
  };

  /** Waits until the garbage collector is done with owners that were deleted without what they own: the UIDs of those are in the file, too. */
  const untilOrphaned = async (): Promise<void> => {
    const kind = { apiVersion: "v1", kind: "Secret" };
    const create = (object: KubeObject) => fleet.api.create(secretResource, object);
    const { metadata: owner } = await create({ ...kind, metadata: { namespace, name: "owner" } });
    const { name = "", uid = "" } = owner;
    const ref = { namespace, name: "owned" };
    await create({ ...kind, metadata: { ...ref, ownerReferences: [{ ...kind, name, uid }] } });
    await fleet.api.delete(secretResource, { namespace, name }, { propagation: "Orphan" });
    await eventually(async () => {
      const owned = await fleet.api.get(secretResource, ref);
      expect(owned.metadata.ownerReferences).toBeUndefined();
    });
  };
  /** What the garbage collector does when it is late, and still at the owner of that UID. */
  const takeOwnersOff = async (machines: readonly Machine[]): Promise<void> => {
    for (const { metadata } of machines) {
      const ref = { namespace, name: metadata.name };
      await fleet.api.patch(machineResource, ref, { metadata: { ownerReferences: null } }, { kind: "merge" });
    }
  };
  /** A fleet whose objects are lost; resolves with its VMs, and the file that `kubectl get` wrote before. */
  const lose = async (count: number, kinds: string, areControllersStopped: boolean) => {
    await fleet.api.create(machineDeploymentResource, machineDeployment("pool", "small", count));
    const before = vmsOf(await until(count, isRunning));
    const file = join(folder, `${count}.json`);
    await writeFile(file, await kubectl(["get", kinds, "-o", "json"]));
    if (areControllersStopped) await controllers.stop();
    await loseFleet(fleet.api);
    await untilOrphaned();
    return { before, file };
  };
  /** The VMs of a fleet after `millwright restore`. */
  const restore = async (count: number, file: string): Promise<readonly string[]> => {
    await millwright(0, "restore", file);
    await until(count, isRunning);
    await untilQuiet(() => fleet.cloud.calls.length);
    return vmsOf(await until(count, isRunning));
  };

  it.each([
    [6, ownersFirst],
    [14, asVelero],
  ])(
    "keeps all VMs of %i machines while the controllers run, and has them after millwright restore: %s",
    async (count, kinds) => {
      const { before, file } = await lose(count, kinds, false);
      // An owner that is adopted meanwhile differs from the file.
      await kubectl.attempt(["apply", "-f", file]);
      await until(count, isRunning, isHeld);
      await untilQuiet(() => fleet.cloud.calls.length);
      expectKept(before);
      expect(await restore(count, file)).toEqual(before);
      expectKept(before);
    },
    600_000,
  );

  it.each([
    [14, ownersFirst],
    [200, asVelero],
  ])(
    "holds the deletion of %i machines that began before the controllers, and has them after millwright restore: %s",
    async (count, kinds) => {
      const { before, file } = await lose(count, kinds, true);
      await kubectl(["apply", "-f", file]);
      // The garbage collector may take minutes until it has found machines that are created at once, and does not find all: some are deleted as it does it.
      for (const { metadata } of (await fleet.machines()).slice(0, count / 2))
        await fleet.api.delete(machineResource, { namespace, name: metadata.name }, { propagation: "Background" });
      const terminating = (await fleet.machines()).filter(isTerminating);
      expect(terminating.length).toBeGreaterThan(1);
      await takeOwnersOff(terminating.slice(0, terminating.length / 2));
      const startedAt = Date.now();
      controllers = fleet.runAlone();
      await until(count, isRunning, isHeld);
      await untilQuiet(() => fleet.cloud.calls.length);
      const held = (await until(count, isRunning, isHeld)).filter(isHeld);
      expect(held).not.toEqual([]);
      expectKept(before);
      await expectExplained(held);
      // A list of VMs that shows those of all machines does not end the hold.
      await eventually(async () => expect(listsAfter(startedAt + SETTLED_MS)).toBeGreaterThan(0), LONG);
      await untilQuiet(() => fleet.cloud.calls.length);
      expectKept(before);
      expect(await restore(count, file)).toEqual(before);
      expectKept(before);
    },
    900_000,
  );
});
