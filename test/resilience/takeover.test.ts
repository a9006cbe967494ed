import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";
import { startCandidate } from "./start-candidate.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const crash = async ({ kill, closed }: ReturnType<typeof startCandidate>): Promise<void> => {
  kill();
  await closed;
};

describe("millwright run, killed and started again", () => {
  let installation: Installation;
  const started: MillwrightProcess[] = [];
  const others: ReturnType<typeof startCandidate>[] = [];

  const startControllers = (): MillwrightProcess => {
    const process = startMillwright([
      "run",
      "--provider=mock",
      "--control-kubeconfig",
      installation.controllersKubeconfig,
      ...shortLeases,
    ]);
    started.push(process);
    return process;
  };
  const scale = (replicas: number): Promise<unknown> =>
    installation.api.patch(
      machineDeploymentResource,
      { namespace: "default", name: "fleet" },
      { spec: { replicas } },
      { kind: "merge" },
    );
  const phases = async (): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);

  beforeEach(async () => {
    // Creations and deletions are slow, so that a kill finds them in flight.
    installation = await startInstallation({ latencyMs: 300, deleteDelayMs: 2_000 });
    await installation.api.create(machineClassResource, machineClass("small"));
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
    await Promise.all(others.splice(0).map(crash));
    await installation.close();
  });

  it("creates one VM per machine when it is killed before it stored the provider IDs", async () => {
    // The VMs are created, and the responses with their IDs are lost: the kill comes before the retry.
    await installation.cloud.addFault({ operation: "create", code: "Unavailable", afterAcceptance: true, times: 3 });
    const first = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await eventually(async () => expect(installation.cloud.vms().length).toBeGreaterThan(0));
    await first.stop("SIGKILL");
    const ids = (await installation.machines()).map(({ spec }) => spec?.providerID ?? "");
    expect(ids, "the kill came too late to prove anything").toContain("");

    startControllers();
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running", "Running"]));
    expect(installation.cloud.vms()).toHaveLength(3);
    const creations = installation.cloud.calls.filter(({ operation }) => operation === "create").length;
    expect(creations).toBeLessThanOrEqual(6);
  });

  it("resumes a deletion of a killed controller", async () => {
    const first = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    await installation.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" });
    await eventually(async () => expect(await phases()).toContain("Terminating"));
    await first.stop("SIGKILL");

    startControllers();
    await eventually(async () => expect(await installation.machines()).toEqual([]));
    expect(installation.cloud.vms()).toEqual([]);
  });

  it("reconciles in one of two processes, in the other one when it is killed, and never in both", async () => {
    const first = startControllers();
    await first.waitFor(/"Leading"/);
    const second = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    expect(second.output()).not.toContain('"Leading"');
    await first.stop("SIGKILL");
    await scale(3);
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running", "Running"]));
    expect(second.output()).toContain('"Leading"');
    expect(installation.cloud.vms()).toHaveLength(3);
  });

  // How soon at the latest is decided in virtual time: `elector.test.ts` of packages/kube.
  it("leads when the leases of a killed leader have passed, and not before", async () => {
    const first = startControllers();
    await first.waitFor(/"Leading"/);
    const second = startControllers();
    await second.waitFor(/Another process holds the lease/);
    await first.stop("SIGKILL");
    const killedAt = performance.now();
    await second.waitFor(/"Leading"/);
    const tookMs = performance.now() - killedAt;
    console.info(`led ${Math.round(tookMs)} ms after the kill, with leases of 5 s`);
    // The last renewal was a retry period of 400 ms before the kill, or a little more.
    expect(tookMs).toBeGreaterThan(3_000);
  });

  it("shares the leases with two programs that each hold one, in any order of restarts", async () => {
    const { url } = installation;
    const startMcm = (lease: string) => {
      const program = startCandidate(url, lease, lease);
      others.push(program);
      return program;
    };
    const [owners, providers] = ["machine-controller-manager", "machine-controller"] as const;
    let mcm = startMcm(owners);
    let provider = startMcm(providers);
    await Promise.all([mcm.waitFor("leads"), provider.waitFor("leads")]);
    const millwrights = [startControllers(), startControllers()];
    await Promise.all(millwrights.map((process) => process.waitFor(/Another process holds the lease/)));
    const leaders = () => millwrights.filter((process) => process.output().includes('"Leading"'));

    // A program of MCM gets its lease back, however long it was away.
    for (const isOwner of [true, false]) {
      await crash(isOwner ? mcm : provider);
      await pause(7_000);
      const restarted = startMcm(isOwner ? owners : providers);
      await restarted.waitFor("leads");
      if (isOwner) mcm = restarted;
      else provider = restarted;
    }
    expect(leaders()).toEqual([]);

    await Promise.all([crash(mcm), crash(provider)]);
    await eventually(async () => expect(leaders()).toHaveLength(1));
    const [leader] = leaders();
    const returned = [startMcm(owners), startMcm(providers)];
    await Promise.all(returned.map((program) => program.waitFor("started")));
    await leader?.stop("SIGKILL");
    const standby = millwrights.find((process) => process !== leader);
    // Either the standby or both programs.
    await eventually(async () => {
      const leading = returned.map((program) => program.lines().at(-1) === "leads");
      expect(leading.every(Boolean) || leaders().length === 2).toBe(true);
      expect(leading.some(Boolean) && leaders().length === 2).toBe(false);
    });
    await standby?.stop("SIGTERM");
    await Promise.all(returned.map((program) => program.waitFor("leads")));
  });

  it("writes nothing in a process that was stopped until its leases expired", async () => {
    const sleeper = startControllers();
    await sleeper.waitFor(/"Leading"/);
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
    sleeper.child.kill("SIGSTOP");
    const heir = startControllers();
    await heir.waitFor(/"Leading"/);
    await scale(2);
    sleeper.child.kill("SIGCONT");
    expect(await sleeper.ended).toBe(1);
    expect(sleeper.output()).toContain("Leadership lost");
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    expect(installation.cloud.vms()).toHaveLength(2);
  });

  it("stops on SIGTERM with status 0, and keeps the fleet", async () => {
    const process = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
    expect(await process.stop("SIGTERM")).toBe(0);
    expect(process.output()).toContain('"Stopped"');
    expect(installation.cloud.vms()).toHaveLength(1);
  });

  it("creates machines as soon as a rejected class is fixed, without a hot loop until then", async () => {
    startControllers();
    const broken = { ...machineClass("broken"), providerSpec: { machineType: "enormous" } };
    await installation.api.create(machineClassResource, broken);
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "broken", 1));
    const described = await eventually(async () => {
      const [machine] = await installation.machines();
      expect(machine?.status?.lastOperation?.description).toContain('MachineClass "broken": providerSpec.machineType');
      return machine;
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await installation.machines())[0]?.metadata.resourceVersion).toBe(described?.metadata.resourceVersion);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "create")).toEqual([]);

    const fixed = { providerSpec: { machineType: "small" } };
    await installation.api.patch(machineClassResource, { namespace: "default", name: "broken" }, fixed, {
      kind: "merge",
    });
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
  });
});
