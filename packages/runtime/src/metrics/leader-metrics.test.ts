import { createControlCaches, type CrdGuard } from "@millwright/controllers";
import { type Clock, systemClock, systemRandom } from "@millwright/base";
import { machineDeploymentResource, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import type { ApiObject, ResourceType } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { afterEach, describe, expect, it } from "vitest";
import { samplesIn } from "../testing/metric-lines.ts";
import { createLeaderMetrics } from "./leader-metrics.ts";
import { textOfParts } from "./metric-parts.ts";

const namespace = "shoot";
const crdGuard: Pick<CrdGuard, "deletionVerdictOf"> = { deletionVerdictOf: () => ({ verdict: "proceed" }) };
const deletionBudget = { heldByCause: () => new Map(), begunByCause: () => new Map(), rooms: () => [] };

let stop = new AbortController();
afterEach(() => {
  stop.abort(new Error("the test is over"));
  stop = new AbortController();
});

/** Caches that have their first list of what `seed` puts there. */
async function setUp(seed: (put: (type: ResourceType, name: string, rest: object) => void) => void, clock: Clock) {
  const api = createFakeApi();
  const put = (type: ResourceType, name: string, rest: object): void => {
    api.seed<ApiObject>(type, { metadata: { namespace, name }, ...rest });
  };
  seed(put);
  const caches = createControlCaches({ api, namespace, clock: systemClock, random: systemRandom });
  for (const cache of [caches.machines, caches.sets, caches.deployments, caches.classes]) {
    void cache.run(stop.signal).catch(() => undefined);
    await cache.synced(stop.signal);
  }
  return { put, caches, metrics: createLeaderMetrics({ namespace, caches, crdGuard, deletionBudget, clock }) };
}

const kinds = [machineResource, machineSetResource, machineDeploymentResource];
const emptySpec = { template: { spec: {} } };

/** A line of Prometheus' text format, strictly: whole labels, a number that is one. */
const sampleLine =
  /^([a-z][a-z0-9_]*(?:\{(?:[A-Za-z_]+="(?:[^"\\\p{Cc}\p{Cs}]|\\["\\n])*",?)*\})?) (?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/u;

/** What a line of the text would make Prometheus refuse: no sample, or a series that was there before. */
function faultsIn(text: string): readonly string[] {
  const seen = new Set<string | undefined>();
  return samplesIn(text).filter((line) => {
    const series = sampleLine.exec(line)?.[1];
    const isFault = series === undefined || seen.has(series);
    seen.add(series);
    return isFault;
  });
}

describe("the metrics of who leads", () => {
  it("are valid, whatever texts objects hold", async () => {
    const hostile = ['"', "\\", '\\"', "\n", "\r", "\0", "\u001B[31m", "\uD800", "\u2028", '"} 1\nmcm_x 9', "é機😀"];
    const { metrics } = await setUp((put) => {
      for (const [at, text] of [...hostile, "x".repeat(100_000)].entries()) {
        const conditions = ["True", "False", text].flatMap((status) => [
          { type: text, status },
          { type: `${text}.`, status },
        ]);
        const failed = { name: text, providerID: text, ownerRef: text, lastOperation: { type: text, state: text } };
        const failedMachines = [failed, failed, {}];
        const spec = { ...emptySpec, providerID: text, class: { name: text, kind: text }, strategy: { type: text } };
        const status = { conditions, machineSetCondition: conditions, failedMachines, currentStatus: { phase: text } };
        for (const kind of kinds) put(kind, `o-${at}`, { spec, status });
      }
    }, createVirtualClock());
    const text = await textOfParts(metrics.parts());
    expect(samplesIn(text).length).toBeGreaterThan(300);
    expect(faultsIn(text)).toEqual([]);
    expect(text.length).toBeLessThan(1_000_000);
    expect(text).toContain('spec_provider_id="\uFFFD[31m"');
  });

  it("leave out and count what cannot be read, and change no value for it", async () => {
    const hostile: readonly unknown[] = ["5", [], [null], [5], true, "NaN", 5.5, 1e21];
    const { metrics } = await setUp((put) => {
      for (const kind of kinds) put(kind, "good", { spec: { ...emptySpec, replicas: 3 } });
      for (const [at, value] of hostile.entries()) {
        for (const field of ["conditions", "currentStatus", "replicas", "failedMachines", "machineSetCondition"])
          for (const kind of kinds)
            put(kind, `${field.toLowerCase()}-${at}`, { spec: emptySpec, status: { [field]: value } });
        for (const field of ["replicas", "minReadySeconds", "strategy", "class", "rollbackTo", "template"])
          for (const kind of kinds)
            put(kind, `spec-${field.toLowerCase()}-${at}`, { spec: { ...emptySpec, [field]: value } });
      }
    }, createVirtualClock());
    await textOfParts(metrics.parts());
    const lines = samplesIn(await textOfParts(metrics.parts()));
    expect(faultsIn(lines.join("\n"))).toEqual([]);
    const failures = lines.filter((line) => line.startsWith("mcm_misc_scrape_failure_total"));
    expect(failures).toHaveLength(3);
    for (const line of failures) expect(Number(line.replace(/^.* /, ""))).toBeGreaterThan(hostile.length);
    expect(lines.filter((line) => /spec_replicas\{name="(?:good|spec-replicas-\d+)"/.test(line))).toEqual([
      'mcm_machine_set_info_spec_replicas{name="good",namespace="shoot"} 3',
      'mcm_machine_deployment_info_spec_replicas{name="good",namespace="shoot"} 3',
    ]);
  });

  it("are not there before the caches have their first lists", async () => {
    const clock = createVirtualClock();
    const caches = createControlCaches({ api: createFakeApi({ clock }), namespace, clock, random: systemRandom });
    const text = await textOfParts(createLeaderMetrics({ namespace, caches, crdGuard, deletionBudget, clock }).parts());
    expect(text).not.toContain("items_total");
    expect(faultsIn(text)).toEqual([]);
  });

  it("let the event loop run while many objects are read, and are all of the moment at which they were asked for", async () => {
    // Ten milliseconds later at each look, so that each slice is over at the first one.
    let ms = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => (ms += 10) };
    const { put, metrics, caches } = await setUp((seed) => {
      for (let at = 0; at < 500; at++) seed(machineResource, `m-${at}`, { spec: {} });
    }, clock);
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      put(machineResource, `late-${turns}`, { spec: {} });
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const [text, same] = await Promise.all([textOfParts(metrics.parts()), textOfParts(metrics.parts())]);
    isOver = true;
    expect(turns).toBeGreaterThan(10);
    expect(text).toContain("mcm_machine_items_total 500\n");
    expect(text).not.toContain("late");
    expect(same).toBe(text);
    expect(faultsIn(text)).toEqual([]);
    const { size } = caches.machines.store;
    expect(samplesIn(await textOfParts(metrics.parts()))).toContain(`mcm_machine_items_total ${size}`);
  });
});
