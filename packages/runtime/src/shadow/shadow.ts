import type { CacheOptions, ControlCaches, MachineControllerOptions } from "@millwright/controllers";
import { type Clock, systemClock } from "@millwright/base";
import { ownMetricNames } from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, controllerRefOf, type Log } from "@millwright/kube";
import { Registry } from "prom-client";
import type { DriverHost } from "../drivers/driver-host.ts";
import { registerIn } from "../metrics/register.ts";
import { type Comparison, countActions, createComparison, type DueAction, type ShadowReport } from "./comparison.ts";
import { describeWrite, type IntendedAction, isRecordOnly } from "./intended-action.ts";
import { createShadowClient } from "./shadow-client.ts";
import { readOnlyDriver, withoutStarts } from "./shadow-driver.ts";

/** Options of {@link createShadow}. */
export interface ShadowOptions {
  /** How long the other manager may take for an action that this one intends, milliseconds. */
  readonly graceMs: number;
  /** Time between two reports in the log, milliseconds. */
  readonly reportMs: number;
  readonly clock?: Clock;
  readonly log: Log;
}

/** What makes a manager decide without acting: see {@link Shadow.attach}. */
export interface AttachedShadow {
  /** Every object is reconciled so often, milliseconds. */
  readonly cacheOptions: Pick<CacheOptions, "resyncMs">;
  readonly client: (api: ApiClient) => ApiClient;
  readonly driver: (driver: DriverHost) => DriverHost;
  readonly wrapOperations: (
    caches: Pick<ControlCaches, "machines">,
  ) => NonNullable<MachineControllerOptions["wrapOperations"]>;
  /** The log of the controllers: what they report as done is not done. */
  readonly log: (log: Log) => Log;
  /** Follows what other clients create, once the caches are filled. Ends with the signal. */
  readonly follow: (caches: Pick<ControlCaches, "machines" | "sets">, signal: AbortSignal) => Promise<void>;
}

/** Runs the decisions of managers beside another manager, changes nothing, and compares. One per process. */
export interface Shadow {
  /** For the manager of one namespace. */
  attach(namespace: string): AttachedShadow;
  report(): ShadowReport;
  /** Writes {@link Shadow.report} to the log. */
  logReport(): void;
  /** The metrics, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Looks for differences, and reports them in the log, until the signal aborts; then it reports once more. */
  run(signal: AbortSignal): Promise<void>;
}

/** Of a manager that carries its decisions out. */
const noShadow: AttachedShadow = {
  cacheOptions: {},
  client: (api) => api,
  driver: (driver) => driver,
  wrapOperations: () => (operations) => operations,
  log: (log) => log,
  follow: () => Promise.resolve(),
};

/** What wraps the parts of a manager; without a shadow they stay as they are. */
export const attachShadow = (shadow: Pick<Shadow, "attach"> | undefined, namespace: string): AttachedShadow =>
  shadow?.attach(namespace) ?? noShadow;

/** How often every object is reconciled: ten times per grace period, but not all the time, milliseconds. */
const checkMsOf = (graceMs: number): number => Math.min(30_000, Math.max(500, graceMs / 10));

/** A reconcile may come late: an action is due until this many checks did not intend it. */
const MISSED_CHECKS = 3;

/** Differences that one report lists. */
const MAX_LISTED = 100;

const fieldsOf = ({ action, kind, subject, detail, since }: DueAction) => ({
  action,
  kind,
  ...(subject.namespace === undefined ? {} : { namespace: subject.namespace }),
  ...(subject.kind === kind ? { name: subject.name } : { owner: `${subject.kind} ${subject.name}` }),
  ...(detail === "" ? {} : { detail }),
  since: new Date(since).toISOString(),
});

/** Counts outcomes, and the actions that are due; labels have values of closed sets. */
function measureShadow(report: () => ShadowReport) {
  const registry = new Registry();
  const { gauge, counter } = registerIn(registry);
  const labelNames = ["kind", "action"] as const;
  const perAction = (read: (report: ShadowReport) => readonly IntendedAction[]) => () =>
    read(report()).map(({ kind, action }) => [{ kind, action }, 1] as const);
  gauge(
    ownMetricNames.shadowDue,
    "Actions that this process would do next.",
    labelNames,
    perAction(({ due }) => due),
  );
  gauge(
    ownMetricNames.shadowDifferences,
    "Actions that the other manager did not do within the grace period.",
    labelNames,
    perAction(({ differences }) => differences),
  );
  const confirmedHelp = "Actions that were no longer due within the grace period.";
  const lateHelp = "Actions that were no longer due after the grace period.";
  const counters = {
    confirmed: counter(ownMetricNames.shadowConfirmed, confirmedHelp, labelNames),
    late: counter(ownMetricNames.shadowLate, lateHelp, labelNames),
  };
  return { registry, counters };
}

/** Makes a {@link Shadow}. */
export function createShadow({ graceMs, reportMs, clock = systemClock, log }: ShadowOptions): Shadow {
  const checkMs = checkMsOf(graceMs);
  const nowMs = (): number => clock.now().getTime();
  const { registry, counters } = measureShadow(() => comparison.report(nowMs()));
  const comparison = createComparison({
    graceMs,
    forgetMs: MISSED_CHECKS * checkMs,
    onOutcome: (outcome, { kind, action }) => counters[outcome].inc({ kind, action }),
    onDifference(state, action) {
      if (state === "ended") log("info", "Shadow difference ended", fieldsOf(action));
      else
        log(isRecordOnly(action) ? "info" : "warn", "Shadow difference: the other manager has not done it", {
          ...fieldsOf(action),
        });
    },
  });
  const intend = (action: IntendedAction | undefined): void => {
    if (action !== undefined) comparison.intended(action, nowMs());
  };

  const logReport = (): void => {
    const { due, differences } = comparison.report(nowMs());
    const counts = countActions(differences);
    log("info", "Shadow report", {
      due: countActions(due).machines,
      differences: counts.machines,
      recordDifferences: counts.records,
    });
    const listed = differences.toSorted((a, b) => Number(isRecordOnly(a)) - Number(isRecordOnly(b)));
    for (const each of listed.slice(0, MAX_LISTED)) log("info", "Shadow report: difference", fieldsOf(each));
  };

  return {
    report: () => comparison.report(nowMs()),
    logReport,
    metrics: () => registry.metrics(),
    attach: (namespace) => ({
      cacheOptions: { resyncMs: checkMs },
      client: (api) => createShadowClient(api, (write) => intend(describeWrite(write))),
      driver: readOnlyDriver,
      wrapOperations: (caches) => (operations) =>
        withoutStarts(operations, (uid, action) => {
          const machine = caches.machines.store.list(namespace).find(({ metadata }) => metadata.uid === uid);
          if (machine === undefined) return;
          const subject = { kind: "Machine", namespace, name: machine.metadata.name ?? "" };
          intend({ action, kind: "Machine", subject, detail: "" });
        }),
      log: (inner) => (level, message, fields) =>
        inner(level === "error" ? "error" : "debug", message, { ...fields, shadow: true }),
      follow: (caches, signal) => followCreations(caches, signal, comparison.created),
    }),
    async run(signal) {
      let reportedMs = clock.monotonicMs();
      while (!signal.aborted) {
        await clock.sleep(Math.min(checkMs, reportMs), signal).catch(() => undefined);
        comparison.sweep(nowMs());
        if (!signal.aborted && clock.monotonicMs() - reportedMs < reportMs) continue;
        reportedMs = clock.monotonicMs();
        logReport();
      }
    },
  };
}

/** Reports Machines and MachineSets that appear. */
async function followCreations(
  { machines, sets }: Pick<ControlCaches, "machines" | "sets">,
  signal: AbortSignal,
  created: Comparison["created"],
): Promise<void> {
  await Promise.all([machines.synced(signal), sets.synced(signal)]).catch(() => undefined);
  if (signal.aborted) return;
  const report =
    (kind: "Machine" | "MachineSet") =>
    (old: ApiObject | undefined, current: ApiObject | undefined): void => {
      if (old !== undefined || current === undefined) return;
      created({ kind, namespace: current.metadata.namespace ?? "", owner: controllerRefOf(current) });
    };
  const ends = [
    machines.store.subscribe(report("Machine"), { replay: false }),
    sets.store.subscribe(report("MachineSet"), { replay: false }),
  ];
  signal.addEventListener("abort", () => ends.forEach((stop) => stop()), { once: true });
}
