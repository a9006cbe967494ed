import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { alertsFile, hasPrometheus, promtool } from "../harness/prometheus.ts";

/** What makes an alert fire, and what is close to it and does not. Values are in promtool's notation, one a minute: `0x9` is ten times 0, `0+2x9` counts up by 2. */
interface AlertCase {
  /** Values by series. */
  readonly firing: Readonly<Record<string, string>>;
  readonly quiet: Readonly<Record<string, string>>;
  /** When it fires; a minute after its `for`. */
  readonly at: string;
  /** When it does not yet; absent: it has no `for`. */
  readonly notYet?: string;
  /** Labels of the alert, besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
}

const phase = "mcm_machine_current_status_phase";
const deployment = '{name="pool",namespace="shoot"}';
const failed = 'mcm_cloud_api_driver_requests_failed_total{provider="aws",operation="create_machine",error_code="14"}';
const calls = 'mcm_cloud_api_driver_request_duration_seconds_count{provider="aws",operation="create_machine"}';

const controller = '{controller="machine",instance="a"}';

const cases: Readonly<Record<string, AlertCase>> = {
  MillwrightNoLeader: {
    firing: { up: "1x30" },
    // Without leader election.
    quiet: { mcm_machine_items_total: "0x30" },
    at: "6m",
    notYet: "4m",
  },
  MillwrightMachinesNotRunning: {
    firing: {
      [`${phase}{name="a",namespace="shoot"}`]: "1x60",
      [`${phase}{name="b",namespace="shoot"}`]: "0x60",
      [`${phase}{name="c",namespace="shoot"}`]: "-1x60",
    },
    quiet: {
      [`${phase}{name="a",namespace="shoot"}`]: "1x60",
      [`${phase}{name="b",namespace="shoot"}`]: "0x60",
      [`${phase}{name="c",namespace="other"}`]: "1x60",
    },
    at: "16m",
    notYet: "14m",
    labels: { namespace: "shoot" },
  },
  MillwrightReplicasUnavailable: {
    firing: {
      [`mcm_machine_deployment_status_available_replicas${deployment}`]: "2x60",
      [`mcm_machine_deployment_info_spec_replicas${deployment}`]: "3x60",
    },
    quiet: {
      [`mcm_machine_deployment_status_available_replicas${deployment}`]: "3x60",
      [`mcm_machine_deployment_info_spec_replicas${deployment}`]: "3x60",
    },
    at: "31m",
    notYet: "29m",
    labels: { name: "pool", namespace: "shoot" },
  },
  MillwrightMachineStuckTerminating: {
    firing: { [`${phase}{name="a",namespace="shoot"}`]: "-4x300" },
    quiet: { [`${phase}{name="a",namespace="shoot"}`]: "-3x300" },
    at: "241m",
    notYet: "239m",
    labels: { name: "a", namespace: "shoot" },
  },
  MillwrightDeletionsHeld: {
    firing: { 'millwright_held_deletions{namespace="shoot",cause="scale-down"}': "5x10" },
    quiet: { 'millwright_held_deletions{namespace="shoot",cause="scale-down"}': "0x10" },
    at: "2m",
    notYet: "0m",
    labels: { namespace: "shoot", cause: "scale-down" },
  },
  MillwrightDeletionsPaused: {
    firing: { 'millwright_paused_deletions{namespace="shoot",kind="Machine"}': "1x10" },
    quiet: { 'millwright_paused_deletions{namespace="shoot",kind="Machine"}': "0x10" },
    at: "1m",
    labels: { namespace: "shoot", kind: "Machine" },
  },
  MillwrightOrphanVMs: {
    firing: { 'millwright_orphan_vms{namespace="shoot",machine_class="small"}': "1x30" },
    quiet: { 'millwright_orphan_vms{namespace="shoot",machine_class="small"}': "0x30" },
    at: "11m",
    notYet: "9m",
    labels: { namespace: "shoot", machine_class: "small" },
  },
  MillwrightVMListsFail: {
    firing: {
      'millwright_vm_list_failures_total{namespace="shoot",machine_class="small",reason="Unavailable"}': "0+1x60",
    },
    quiet: {
      'millwright_vm_list_failures_total{namespace="shoot",machine_class="small",reason="Unavailable"}': "1x30 2x30",
    },
    at: "60m",
    notYet: "10m",
    labels: { namespace: "shoot", machine_class: "small", reason: "Unavailable" },
  },
  MillwrightCircuitOpen: {
    firing: { 'millwright_circuit_open{namespace="shoot",driver="aws",secret="cloud"}': "1x10" },
    quiet: { 'millwright_circuit_open{namespace="shoot",driver="aws",secret="cloud"}': "0x10" },
    at: "6m",
    notYet: "4m",
    labels: { namespace: "shoot", driver: "aws", secret: "cloud" },
  },
  MillwrightCloudCallsFail: {
    firing: { [failed]: "0+6x60", [calls]: "0+10x60" },
    // A VM that is not there yet does not count.
    quiet: { [failed]: "0+4x60", [failed.replace("14", "5")]: "0+10x60", [calls]: "0+10x60" },
    at: "40m",
    notYet: "10m",
    labels: { provider: "aws", operation: "create_machine" },
  },
  MillwrightReconcilesFail: {
    firing: {
      [`controller_runtime_reconcile_errors_total${controller}`]: "0+6x60",
      [`controller_runtime_reconcile_total{result="error",${controller.slice(1)}`]: "0+6x60",
      [`controller_runtime_reconcile_total{result="success",${controller.slice(1)}`]: "0+4x60",
      'millwright_memory_used_share{instance="a",of="heap"}': "0.1x60",
    },
    // Another program with the library of the same metrics.
    quiet: {
      [`controller_runtime_reconcile_errors_total${controller}`]: "0+6x60",
      [`controller_runtime_reconcile_total{result="error",${controller.slice(1)}`]: "0+6x60",
      'millwright_memory_used_share{instance="b",of="heap"}': "0.1x60",
    },
    at: "40m",
    notYet: "10m",
    labels: { controller: "machine", instance: "a" },
  },
  MillwrightAPIRequestsFail: {
    firing: {
      'rest_client_requests_total{host="api",code="200",method="GET"}': "0+4x60",
      'rest_client_requests_total{host="api",code="<error>",method="GET"}': "0+3x60",
      'rest_client_requests_total{host="api",code="503",method="PATCH"}': "0+3x60",
      'millwright_api_request_limit{host="api"}': "16x60",
    },
    quiet: {
      'rest_client_requests_total{host="api",code="404",method="GET"}': "0+6x60",
      'rest_client_requests_total{host="api",code="200",method="GET"}': "0+4x60",
      'millwright_api_request_limit{host="api"}': "16x60",
    },
    at: "20m",
    notYet: "4m",
    labels: { host: "api" },
  },
  MillwrightWritesRefused: {
    firing: {
      'millwright_refused_writes_total{namespace="shoot",kind="Machine",verb="patch",subresource="status"}': "0+1x60",
    },
    // A webhook that restarts refuses a few.
    quiet: {
      'millwright_refused_writes_total{namespace="shoot",kind="Machine",verb="patch",subresource="status"}': "0 3x60",
    },
    at: "30m",
    notYet: "10m",
    labels: { namespace: "shoot", kind: "Machine", verb: "patch", subresource: "status" },
  },
  MillwrightUnreadableObjects: {
    firing: { 'millwright_unreadable_objects{kind="Machine",namespace="shoot"}': "2x10" },
    quiet: { 'millwright_unreadable_objects{kind="Machine",namespace="shoot"}': "0x10" },
    at: "6m",
    notYet: "4m",
    labels: { kind: "Machine", namespace: "shoot" },
  },
  MillwrightAPIServerWentBack: {
    firing: { 'millwright_api_server_rewinds_total{api_server="control"}': "0x5 1x10" },
    quiet: { 'millwright_api_server_rewinds_total{api_server="control"}': "1x20" },
    at: "8m",
    notYet: "4m",
    labels: { api_server: "control" },
  },
  MillwrightClockSkew: {
    firing: { 'millwright_api_server_clock_skew_seconds{api_server="control"}': "-31x20" },
    quiet: { 'millwright_api_server_clock_skew_seconds{api_server="control"}': "29x20" },
    at: "11m",
    notYet: "9m",
    labels: { api_server: "control" },
  },
  MillwrightWatchdogProblem: {
    firing: { 'millwright_watchdog_problems{kind="cache"}': "1x10" },
    quiet: { 'millwright_watchdog_problems{kind="cache"}': "0x10" },
    at: "6m",
    notYet: "4m",
    labels: { kind: "cache" },
  },
  MillwrightEventLoopBlocked: {
    firing: { millwright_event_loop_stall_seconds_count: "0+1x20" },
    quiet: { millwright_event_loop_stall_seconds_count: "0x10 1 2 3x20" },
    at: "15m",
    notYet: "2m",
  },
  MillwrightStrayDriverErrors: {
    firing: { 'millwright_driver_stray_errors_total{provider="aws"}': "0x5 1x10" },
    quiet: { 'millwright_driver_stray_errors_total{provider="aws"}': "7x20" },
    at: "8m",
    notYet: "4m",
    labels: { provider: "aws" },
  },
};

/** Leadership of two pods over namespaces, by Lease, and how many machines each leader has. */
const leadership = (
  values: Readonly<Record<string, readonly [machinesOfA: string, a: string, b: string]>>,
  leases = ["machine-controller", "machine-controller-manager"],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([namespace, [machines, ...pods]]) => [
      [`mcm_machine_items_total{namespace="${namespace}",pod="a"}`, machines],
      ...leases.flatMap((name) =>
        pods.map((value, index) => [
          `leader_election_master_status{name="${name}",namespace="${namespace}",pod="${index === 0 ? "a" : "b"}"}`,
          value,
        ]),
      ),
    ]),
  );

/** When `MillwrightNoLeader` fires for which namespaces. */
const noLeader: Readonly<
  Record<
    string,
    { readonly series: Readonly<Record<string, string>>; readonly firing: Readonly<Record<string, string[]>> }
  >
> = {
  "one namespace of a process loses its leader, the other keeps it": {
    series: leadership({ one: ["5x10 _x110", "1x10 0x110", "0x120"], two: ["5x120", "1x120", "0x120"] }),
    firing: { "9m": [], "14m": [], "17m": ["one"], "118m": ["one"] },
  },
  "another pod takes over": {
    series: {
      ...leadership({ one: ["5x10 _x110", "1x10 0x110", "0x10 1x110"] }),
      'mcm_machine_items_total{namespace="one",pod="b"}': "_x11 5x110",
    },
    firing: { "17m": [], "118m": [] },
  },
  "a namespace that no pod ever led": {
    series: leadership({ one: ["5x30", "1x30", "0x30"], two: ["_x30", "0x30", "0x30"] }),
    firing: { "4m": [], "6m": ["two"] },
  },
  "all pods of one release are gone, those of another are there": {
    series: leadership({ one: ["5x10 _x110", "1x10 _x110", "0x10 _x110"], two: ["5x120", "1x120", "0x120"] }),
    firing: { "18m": [], "23m": ["one"], "60m": ["one"], "90m": [] },
  },
  "all pods of the only release are gone": {
    series: leadership({ one: ["5x10 _x110", "1x10 _x110", "0x10 _x110"] }),
    // No gap between the alert of the namespace and the one without.
    firing: { "23m": ["one"], "60m": ["one"], "71m": [""], "118m": [""] },
  },
  "one of the Leases is held by no pod": {
    series: {
      ...leadership({ one: ["5x30", "1x30", "0x30"] }, ["machine-controller"]),
      ...leadership({ one: ["5x30", "0x30", "0x30"] }, ["machine-controller-manager"]),
    },
    firing: { "6m": ["one"] },
  },
  "other programs of the same library elect leaders": {
    series: {
      ...leadership({ one: ["5x30", "1x30", "0x30"] }),
      'leader_election_master_status{name="other",namespace="kube-system"}': "0x30",
    },
    firing: { "20m": [] },
  },
};

/** An expression test of promtool: the alert fires at that time with these labels, once for each, and not otherwise. */
const exprTest = (alert: string, time: string, fired: readonly Readonly<Record<string, string>>[]) => ({
  expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
  eval_time: time,
  exp_samples: fired.map((labels) => ({
    labels: `ALERTS{${Object.entries({ alertname: alert, alertstate: "firing", ...labels })
      .map(([label, value]) => `${label}="${value}"`)
      .join(",")}}`,
    value: 1,
  })),
});

/** A test of promtool: the alert fires at these times with these labels, or does not. */
const ruleTest = (
  alert: string,
  series: Readonly<Record<string, string>>,
  times: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>,
) => ({
  interval: "1m",
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: Object.entries(times).map(([time, labels]) =>
    exprTest(alert, time, labels === undefined ? [] : [labels]),
  ),
});

const success = { status: 0, output: expect.stringContaining("SUCCESS") };

/** Runs tests of promtool on the alerts of the chart. */
async function testAlerts(tests: readonly object[]): ReturnType<typeof promtool> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-rules-"));
  try {
    const file = join(folder, "tests.yaml");
    await writeFile(
      file,
      stringify({ rule_files: [alertsFile], evaluation_interval: "1m", tests }, { aliasDuplicateObjects: false }),
    );
    return await promtool(["test", "rules", file]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const readRules = async (): Promise<readonly { alert: string; labels: { severity: string } }[]> =>
  parse(await readFile(alertsFile, "utf8")).groups[0].rules;

describe.skipIf(!hasPrometheus)("the alerts of the chart (where test/system/install-prometheus was possible)", () => {
  it("are rules that promtool accepts", async () => {
    expect(await promtool(["check", "rules", alertsFile])).toMatchObject({ status: 0 });
  });

  it("fire when they should, after their time and with their labels, and not when it is close", async () => {
    const rules = await readRules();
    expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert));
    const tests = rules.flatMap(({ alert, labels: { severity } }) => {
      const { firing, quiet, at, notYet, labels } = cases[alert] ?? { firing: {}, quiet: {}, at: "" };
      return [
        ruleTest(alert, firing, {
          [at]: { ...labels, severity },
          ...(notYet === undefined ? {} : { [notYet]: undefined }),
        }),
        ruleTest(alert, quiet, { [at]: undefined }),
      ];
    });
    expect(await testAlerts(tests)).toMatchObject(success);
  });

  it("MillwrightNoLeader fires for each namespace that no process leads", async () => {
    const tests = Object.values(noLeader).map(({ series, firing }) => {
      const labels = (namespace: string) => ({ ...(namespace === "" ? {} : { namespace }), severity: "critical" });
      return {
        ...ruleTest("MillwrightNoLeader", series, {}),
        promql_expr_test: Object.entries(firing).map(([time, namespaces]) =>
          exprTest("MillwrightNoLeader", time, namespaces.map(labels)),
        ),
      };
    });
    expect(await testAlerts(tests)).toMatchObject(success);
  });
});
