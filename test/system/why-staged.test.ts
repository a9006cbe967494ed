import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { aBudget, aDeployment } from "../harness/manifests.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { checkTranscript } from "../harness/transcripts.ts";

const namespace = "default";
const LONG = 90_000;

/** Runs `millwright` on a cluster. */
async function millwright(kubeconfig: string, args: readonly string[]) {
  const command = startMillwright([...args, "--kubeconfig", kubeconfig], { NO_COLOR: "1" });
  const status = await command.ended;
  return { status, output: command.output() };
}

/** Runs `millwright why` until it shows what is expected, and compares it with the transcript. */
async function explains(
  installation: Pick<Installation, "kubeconfig">,
  name: string,
  object: string,
  texts: readonly string[],
): Promise<true> {
  // Conditions settle one after another, so the whole output is compared until it is that of the transcript.
  await eventually(async () => {
    const { status, output } = await millwright(installation.kubeconfig, ["why", object]);
    expect(status, output).toBe(3);
    for (const text of texts) expect(output.replaceAll(/[\s│]+/g, " ")).toContain(text);
    await checkTranscript(name, [`millwright why ${object}`, output]);
  }, LONG);
  return true;
}

describe("millwright why", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;

  const start = async (options: Parameters<typeof startInstallation>[0] = {}, ...flags: string[]): Promise<void> => {
    installation = await startInstallation(options, { requestLogLimit: 100_000 });
    await installation.api.create(machineClassResource, machineClass("small"));
    controllers = installation.runAlone(...flags);
  };
  const deploy = async (name: string, className: string, replicas: number, spec: object = {}): Promise<void> => {
    const made = machineDeployment(name, className, replicas);
    await installation.api.create(machineDeploymentResource, {
      ...made,
      spec: { ...(made["spec"] as object), ...spec },
    });
  };
  const change = (name: string, patch: object): Promise<unknown> =>
    installation.api.patch(machineDeploymentResource, { namespace, name }, patch, { kind: "merge" });
  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      const phases = (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases.filter((phase) => phase === "Running")).toHaveLength(count);
    }, LONG);
  afterEach(() => installation.close());

  it("names an exhausted quota", async () => {
    await start({ maxVms: 1 });
    await deploy("pool", "small", 3);
    await untilRunning(1);
    expect(
      await explains(installation, "quota-exhausted", "mcd/pool", [
        "2 Machines",
        "ResourceExhausted: quota of 1 VMs is used up",
        "Raise the quota in the cloud",
      ]),
    ).toBe(true);
  });

  it("gives the same answer from a snapshot, which has no secrets, and replays it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millwright-snapshot-"));
    try {
      const file = join(folder, "state.json");
      await start({ maxVms: 1 });
      await deploy("pool", "small", 3);
      await untilRunning(1);
      await eventually(async () => {
        const failing = (await installation.machines()).filter(
          ({ status }) => status?.lastOperation?.errorCode === "ResourceExhausted",
        );
        expect(failing).toHaveLength(2);
      }, LONG);
      const { kubeconfig } = installation;
      expect(await millwright(kubeconfig, ["snapshot", "--file", file])).toEqual({ status: 0, output: "" });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const text = await readFile(file, "utf8");
      expect(text).not.toContain("userData");
      expect(text).not.toContain(Buffer.from("boot <<MACHINE_NAME>>").toString("base64"));
      const stored = await millwright(kubeconfig, ["why", "mcd/pool", "--state", file]);
      expect(stored.status).toBe(3);
      expect(stored.output).toContain("ResourceExhausted: quota of 1 VMs is used up");
      expect((await millwright(kubeconfig, ["describe", "md", "pool", "--state", file])).output).toContain(
        "2 Machines",
      );
      // Nothing is left to decide: the machines exist, and their creation is repeated.
      const replayed = startMillwright(["replay", file]);
      expect([await replayed.ended, replayed.output()]).toEqual([0, expect.stringContaining("MachineDeployment pool")]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("names a missing class", async () => {
    await start();
    await deploy("pool", "gone", 2);
    expect(
      await explains(installation, "missing-class", "mcd/pool", [
        "MachineClass gone: does not exist",
        "Create MachineClass gone",
      ]),
    ).toBe(true);
  });

  it("names credentials that are not accepted", async () => {
    await start();
    const message = "the token has expired";
    await installation.cloud.addFault({ operation: "create", code: "Unauthenticated", times: 1e6, message });
    await deploy("pool", "small", 2);
    expect(
      await explains(installation, "wrong-credentials", "mcd/pool", [
        "Unauthenticated",
        "Secret cloud: credentials of MachineClass small",
        "kubectl edit secret cloud -n default",
      ]),
    ).toBe(true);
  });

  it("names the deadline of a node that never joins", async () => {
    await start({ bootDelayMs: 3_600_000 });
    await deploy("pool", "small", 1);
    expect(
      await explains(installation, "node-never-joins", "mcd/pool", [
        "Pending",
        "Waiting for a Node with spec.providerID",
        "at the latest the machine becomes Failed",
      ]),
    ).toBe(true);
  });

  it("names a pause of a rollout", async () => {
    await start();
    await installation.api.create(machineClassResource, machineClass("big"));
    await deploy("pool", "small", 2);
    await untilRunning(2);
    await change("pool", { spec: { paused: true, template: { spec: { class: { name: "big" } } } } });
    expect(await explains(installation, "paused-rollout", "mcd/pool", ["Paused", '{"spec":{"paused":false}}'])).toBe(
      true,
    );
  });

  it("names a freeze", async () => {
    await start();
    await deploy("pool", "small", 3);
    await untilRunning(3);
    // The controllers find all of them at once: else the first ones would be replaced before.
    await controllers.stop("SIGKILL");
    for (const { metadata } of await installation.machines())
      await installation.api.patch(
        machineResource,
        { namespace, name: metadata.name },
        { metadata: { labels: { name: null } } },
        { kind: "merge" },
      );
    installation.runAlone();
    expect(
      await explains(installation, "frozen-set", "mcd/pool", ["Frozen", "safety.machine.sapcloud.io/unfreeze=True"]),
    ).toBe(true);
  });

  it("names the Secret that a deletion needs, and who keeps a class that is being deleted", async () => {
    await start();
    const { api } = installation;
    // The machine records the region that the class has when its creation begins.
    await eventually(async () =>
      expect(await api.get<MachineClass>(machineClassResource, { namespace, name: "small" })).toHaveProperty(
        "nodeTemplate.region",
      ),
    );
    await deploy("pool", "small", 1);
    await untilRunning(1);
    await api.delete(machineClassResource, { namespace, name: "small" });
    expect(
      await explains(installation, "class-in-use", "machineclass/small", [
        "StillInUse",
        "is kept while used by Machine pool-",
        "The template of MachineDeployment pool names it",
      ]),
    ).toBe(true);
    const secret = { namespace, name: "cloud" };
    await api.delete(secretResource, secret);
    await api.patch(secretResource, secret, { metadata: { finalizers: null } }, { kind: "merge" });
    await change("pool", { spec: { replicas: 0 } });
    const [machine] = await installation.machines();
    expect(
      await explains(installation, "secret-missing", `machine/${machine?.metadata.name ?? ""}`, [
        "Secret cloud: does not exist",
        "Create Secret cloud again",
      ]),
    ).toBe(true);
  });

  it("names deletions over the budget", async () => {
    await start();
    await deploy("pool", "small", 15);
    await untilRunning(15);
    await change("pool", { spec: { replicas: 0 } });
    expect(
      await explains(installation, "over-the-deletion-budget", "mcd/pool", [
        "Deletion of 15 machines is held",
        "millwright approve deployment pool -n default",
      ]),
    ).toBe(true);
  });
});

describe("millwright why of a drain", () => {
  let fleet: DrainingFleet;
  beforeAll(async () => {
    fleet = await startDrainingFleet(2);
  });
  afterAll(() => fleet.close());

  it("names the PodDisruptionBudget and the pods that block it", async () => {
    const { machine, node } = await fleet.victim();
    await fleet.fillNode(node, 2, aDeployment("web", 2), aBudget("web", { minAvailable: 2 }));
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, "disruption budget");
    expect(
      await explains(fleet, "stuck-drain", `machine/${machine}`, [
        "PodDisruptionBudget default/web can never be met",
        "kubectl get poddisruptionbudgets,pods -n default",
      ]),
    ).toBe(true);
  });
});
