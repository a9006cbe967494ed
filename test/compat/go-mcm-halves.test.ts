import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { type GoProgram, goPrograms, leaseHolders, startGoProgram } from "../harness/go-mcm.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { shortLeases } from "../harness/short-leases.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 120_000;
const namespace = "default";

/** Each program of MCM with the other half of Millwright: one makes Machines, the other one their VMs. */
describe("one half of millwright run beside the other half of a Go MCM", () => {
  let fleet: RealFleet;
  const running: Program[] = [];
  let replicas = 2;

  beforeAll(async () => {
    fleet = await startRealFleet();
    await fleet.api.create(machineClassResource, machineClass("small"));
    const deployment = machineDeployment("fleet", "small", replicas);
    // With the strategy that MCM has no default for.
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    const spec = Object.assign({}, deployment["spec"], { strategy });
    await fleet.api.create(machineDeploymentResource, { ...deployment, spec });
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await Promise.all(running.map((program) => program.stop("SIGKILL")));
    await fleet.close();
  }, 60_000);

  it.each(
    goPrograms.map((ofGo): readonly [GoProgram, GoProgram] => [ofGo, goPrograms.find((each) => each !== ofGo) ?? ofGo]),
  )(
    "creates, replaces and keeps machines with %s of Go and %s of Millwright",
    async (ofGo, ofMillwright) => {
      await Promise.all(running.splice(0).map((program) => program.stop("SIGKILL")));
      running.push(await startGoProgram(ofGo, fleet.kubeconfig, ["--leader-elect=true", ...shortLeases]));
      const cluster = `--control-kubeconfig=${fleet.controllersKubeconfig}`;
      const driver = ofMillwright === "machine-controller" ? ["--provider=mock"] : [];
      running.push(startMillwright(["run", `--controllers=${ofMillwright}`, cluster, ...driver, ...shortLeases]));
      const expected = goPrograms.map((name) => (name === ofGo ? "Go" : "Millwright"));
      await eventually(async () => expect(await leaseHolders(fleet.api)).toEqual(expected), LONG);

      const untilRunning = (): Promise<void> =>
        eventually(async () => {
          expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: replicas }, () => "Running"));
        }, LONG);
      await untilRunning();
      const before = vmsOf(await fleet.machines());
      replicas += 1;
      const ref = { namespace, name: "fleet" };
      await fleet.api.patch(machineDeploymentResource, ref, { spec: { replicas } }, { kind: "merge" });
      await untilRunning();
      expect(vmsOf(await fleet.machines())).toEqual(expect.arrayContaining([...before]));

      // A rollout deletes machines by one program, and their VMs by the other one.
      const template = { metadata: { labels: { of: ofGo } } };
      const names = (await fleet.machines()).map(({ metadata }) => metadata.name);
      await fleet.api.patch(machineDeploymentResource, ref, { spec: { template } }, { kind: "merge" });
      await eventually(async () => {
        const left = (await fleet.machines()).filter(({ metadata }) => names.includes(metadata.name));
        expect(left).toEqual([]);
      }, LONG);
      await untilRunning();
      expect(fleet.cloud.vms()).toHaveLength(replicas);
    },
    4 * LONG,
  );
});
