import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { alertsFile, hasPrometheus, type Prometheus, promtool, startPrometheus } from "../harness/prometheus.ts";

const dashboardFile = fileURLToPath(new URL("../../charts/millwright/files/dashboard.json", import.meta.url));

/** The selectors of an expression: metrics with their labels. */
const selectorsIn = (expression: string): readonly string[] =>
  [
    ...expression.matchAll(
      /\b((?:mcm|millwright|workqueue|controller_runtime|rest_client|process|nodejs|leader)_\w+)(\{[^}]*\})?/g,
    ),
  ].map(([, name = "", labels = ""]) => `${name}${labels}`);

/** What a panel has in place of its variables when all is selected. */
const expressionsOfPanels = async (): Promise<readonly string[]> => {
  const { panels } = JSON.parse(await readFile(dashboardFile, "utf8"));
  return panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr.replaceAll("$namespace", ".*")),
  );
};

const expressionsOfAlerts = async (): Promise<readonly string[]> =>
  parse(await readFile(alertsFile, "utf8")).groups[0].rules.map(({ expr }: { expr: string }) => expr);

describe.skipIf(!hasPrometheus)("Prometheus (where test/system/install-prometheus was possible)", () => {
  let fleet: ControlledFleet;
  let controllers: MillwrightProcess;
  let prometheus: Prometheus;
  let address = "";
  beforeAll(async () => {
    fleet = await startControlledFleet();
    const [port = 0] = await freePorts(1);
    address = `127.0.0.1:${port}`;
    prometheus = await startPrometheus({
      scrapes: [{ job_name: "millwright", static_configs: [{ targets: [address] }] }],
    });
    controllers = fleet.run(`--port=${port}`, "--machine-safety-orphan-vms-period=3s");
    // A machine is created, joins, is drained and deleted.
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    await fleet.scale(2);
    await fleet.untilRunning(2);
  });
  afterAll(async () => {
    await prometheus.close();
    await fleet.close();
  });

  const firing = async (): Promise<readonly string[]> =>
    (await prometheus.firing()).map(({ labels }) => labels["alertname"] ?? "");
  /** Waits until these fire, whatever else does. */
  const untilFiring = (...names: readonly string[]): Promise<void> =>
    eventually(async () => expect(await firing()).toEqual(expect.arrayContaining([...names])), 120_000);

  it("reads what the process serves, which promtool finds no fault with, but names of MCM and prom-client", async () => {
    await eventually(async () => expect(await prometheus.query("up == 1")).toHaveLength(1));
    const response = await fetch(`http://${address}/metrics`);
    const { status, output } = await promtool(["check", "metrics"], await response.text());
    const faults = output.split("\n").filter((line) => line !== "" && !/^(?:mcm_|nodejs_active_)\w+ /.test(line));
    expect(faults).toEqual([]);
    // 3: there are names that promtool would choose differently; 1 would be a text that cannot be read.
    expect(status).toBe(3);
  });

  it("fires no alert while all is well", async () => {
    // Each alert has its verdict by then.
    await eventually(async () => expect(await firing()).toEqual([]));
  });

  it("fires alerts when the cloud refuses the credential", async () => {
    await fleet.cloud.addFault({ operation: "*", code: "Unauthenticated", message: "key revoked", times: 1e6 });
    // Some writes fail, others are refused.
    const answerPatchesWith = (code: number, ...resources: readonly string[]) => {
      const match = { userAgent: "millwright", verbs: ["patch"], resources };
      fleet.server.faults.add({ match, effect: { kind: "status", code }, times: 3 });
    };
    answerPatchesWith(503, "machines", "machinesets/status");
    answerPatchesWith(422, "machines/status");
    await fleet.scale(12);
    await untilFiring("MillwrightCircuitOpen", "MillwrightCloudCallsFail", "MillwrightReplicasUnavailable");
    for (const { labels, annotations } of await prometheus.firing())
      expect(Object.values(annotations).join(" "), labels["alertname"]).not.toMatch(/no value|error|NaN/);
  });

  it("has a series for every metric that an alert or a panel of the dashboard names", async () => {
    const expressions = [...(await expressionsOfAlerts()), ...(await expressionsOfPanels())];
    expect(expressions.length).toBeGreaterThan(35);
    const selectors = [...new Set(expressions.flatMap(selectorsIn))];
    // The VMs of a class are listed within the first minute, and again after another.
    await eventually(async () => {
      const missing: string[] = [];
      for (const selector of selectors)
        if ((await prometheus.query(`count_over_time(${selector}[1h])`)).length === 0) missing.push(selector);
      expect(missing).toEqual([]);
    }, 150_000);
    for (const expression of expressions) {
      expect(selectorsIn(expression), expression).not.toEqual([]);
      await prometheus.query(expression);
    }
  });

  it("fires an alert when no process leads any more", async () => {
    expect(await firing()).not.toContain("MillwrightNoLeader");
    await controllers.stop("SIGTERM");
    await untilFiring("MillwrightNoLeader");
  });
});
