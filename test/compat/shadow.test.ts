import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";
import { type GoProgram, goPrograms, leaseHolders, startGoProgram } from "../harness/go-mcm.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { lastReportOf, startShadow } from "../harness/shadow.ts";
import { shortLeases } from "../harness/short-leases.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 120_000;
const GRACE_MS = 5_000;
const ref = { namespace: "default", name: "fleet" };

/** MCM's programs of v0.60 do not store this field, which limits automatic preservation; nothing else differs. */
const isNewerField = (line: object): boolean =>
  "detail" in line && line.detail === '{"minReadySeconds":0,"autoPreserveFailedMachineMax":0}';

describe("millwright run --shadow beside a Go MCM on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let proxy: FaultyProxy;
  let folder: string;
  let shadow: MillwrightProcess;
  let port = 0;
  const go: Program[] = [];

  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
    }, LONG);
  const startGo = (name: GoProgram): Promise<Program> =>
    startGoProgram(name, fleet.kubeconfig, ["--leader-elect=true", ...shortLeases]);
  const patch = (spec: object): Promise<unknown> =>
    fleet.api.patch(machineDeploymentResource, ref, { spec }, { kind: "merge" });
  /** The report that the shadow writes on request: how many actions on machines are due, and the differences. */
  const readReport = async () => {
    const reports = (): number => shadow.output().split('"msg":"Shadow report"').length;
    const before = reports();
    shadow.child.kill("SIGUSR2");
    await eventually(async () => expect(await Promise.resolve(reports())).toBeGreaterThan(before));
    // The lines of a report are written at once.
    await pause(100);
    const { counts, lines } = lastReportOf(shadow.output());
    const records = new Set(["ChangeStatus", "ChangeMetadata"]);
    const differences = lines.filter((line) => !records.has(String(line["action"])) && !isNewerField(line));
    return { due: counts["due"], differences };
  };
  const shadowMetric = async (name: string, labels: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`${name}{${labels}}`));
    return Number(line?.split(" ").at(-1) ?? 0);
  };
  /** Waits until nothing that concerns machines is due, or different. */
  const untilAgreed = (): Promise<void> =>
    eventually(async () => {
      expect(await readReport()).toEqual({ due: 0, differences: [] });
    }, LONG);

  const untilGoLeads = (): Promise<void> =>
    eventually(async () => expect(await leaseHolders(fleet.api)).toEqual(["Go", "Go"]), LONG);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-shadow-"));
    fleet = await startRealFleet();
    proxy = await startFaultyProxy(fleet.plane);
    await fleet.api.create(machineClassResource, machineClass("small"));
    for (const name of goPrograms) go.push(await startGo(name));
    await untilGoLeads();
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } };
    const deployment = machineDeployment("fleet", "small", 1);
    const spec = Object.assign({}, deployment["spec"], { strategy });
    await fleet.api.create(machineDeploymentResource, { ...deployment, spec });
    await untilRunning(1);
    [port = 0] = await freePorts(1);
    shadow = await startShadow(
      {
        api: fleet.api,
        url: proxy.url,
        token: fleet.plane.token,
        kubeconfig: join(folder, "kubeconfig"),
      },
      `--shadow-grace=${GRACE_MS}ms`,
      "--shadow-report-interval=1h",
      `--port=${port}`,
    );
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await Promise.all([shadow, ...go].map((program) => program.stop("SIGKILL")));
    await proxy.close();
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  it(
    "finds no difference about machines while nothing changes",
    async () => expect(await untilAgreed()).toBeUndefined(),
    LONG,
  );

  it.each<[string, object, number, string | undefined]>([
    ["a scale-out", { replicas: 2 }, 2, undefined],
    ["a rollout", { template: { metadata: { labels: { roll: "1" } } } }, 2, "1"],
    ["a scale-in", { replicas: 1 }, 1, "1"],
  ])(
    "finds that MCM reaches what it intends, and nothing else, in %s",
    async (_what, spec, replicas, roll) => {
      await patch(spec);
      await eventually(async () => {
        const labels = (await fleet.machines()).map(({ metadata }) => metadata.labels?.["roll"]);
        expect(labels).toEqual(Array.from({ length: replicas }, () => roll));
      }, 2 * LONG);
      await untilRunning(replicas);
      await untilAgreed();
    },
    4 * LONG,
  );

  it(
    "reports what it would do as long as MCM does not do it, and does none of it",
    async () => {
      await Promise.all(go.splice(0).map((program) => program.stop("SIGKILL")));
      await patch({ replicas: 3 });
      const scaleOut = { action: "ChangeSpec", kind: "MachineSet", detail: expect.stringContaining('"replicas":3') };
      await eventually(async () => {
        const { differences } = await readReport();
        expect(differences).toContainEqual(expect.objectContaining(scaleOut));
      }, LONG);
      expect(await shadowMetric("millwright_shadow_differences", 'kind="MachineSet",action="ChangeSpec"')).toBe(1);
      expect(await fleet.machines()).toHaveLength(1);
      expect(fleet.cloud.vms()).toHaveLength(1);
    },
    2 * LONG,
  );

  it(
    "ends the difference when MCM does it later",
    async () => {
      for (const name of goPrograms) go.push(await startGo(name));
      await untilRunning(3);
      await untilAgreed();
      expect(shadow.output()).toContain("Shadow difference ended");
      expect(
        await shadowMetric("millwright_shadow_late_total", 'kind="MachineSet",action="ChangeSpec"'),
      ).toBeGreaterThan(0);
    },
    4 * LONG,
  );

  it("sends no request but reads, is forbidden none, and takes no Lease", async () => {
    expect(proxy.requests()).toBeGreaterThan(0);
    expect(proxy.writes()).toEqual([]);
    expect(shadow.output()).not.toContain("forbidden");
    expect(await leaseHolders(fleet.api)).toEqual(["Go", "Go"]);
  });
});
