/**
 * @import { DeploymentRow, MachineRow, Row, SetRow } from "../src/rows/rows.ts"
 * @import { ReportedCall } from "../src/fleet/fleet-reader.ts"
 * @import { StreamEvent } from "./sse.js"
 */

/**
 * What the stream has sent. Changed in place: thousands of rows are not copied for one.
 *
 * @typedef {object} Fleet
 * @property {string[]} namespaces
 * @property {readonly string[]} steps
 * @property {Map<string, MachineRow>} machines by id
 * @property {Map<string, SetRow>} sets
 * @property {Map<string, DeploymentRow>} deployments
 * @property {readonly ReportedCall[]} calls of drivers that run
 * @property {boolean} hasAll whether all rows have arrived
 * @property {number} lostForMs for how long the controllers have not reached the API server
 * @property {number} version grows with each change of rows
 */

/** @returns {Fleet} */
export const emptyFleet = () => ({
  namespaces: [],
  steps: [],
  machines: new Map(),
  sets: new Map(),
  deployments: new Map(),
  calls: [],
  hasAll: false,
  lostForMs: 0,
  version: 0,
});

/**
 * @param {Fleet} fleet
 * @param {Row} row
 */
function put({ machines, sets, deployments }, row) {
  if (row.kind === "machine") machines.set(row.id, row);
  else if (row.kind === "set") sets.set(row.id, row);
  else deployments.set(row.id, row);
}

/**
 * Applies an event of the stream. A new stream begins with `hello` and all rows.
 *
 * @param {Fleet} fleet
 * @param {StreamEvent} event
 * @returns {readonly string[]} ids of rows that have changed
 */
export function applyEvent(fleet, { name, data }) {
  switch (name) {
    case "hello":
      Object.assign(fleet, emptyFleet(), { version: fleet.version + 1 }, data);
      return [];
    case "rows":
      for (const row of data.rows) put(fleet, row);
      for (const id of data.gone) for (const rows of [fleet.machines, fleet.sets, fleet.deployments]) rows.delete(id);
      fleet.version += 1;
      return [...data.rows.map((/** @type {Row} */ { id }) => id), ...data.gone];
    case "synced":
      fleet.hasAll = true;
      fleet.version += 1;
      return [];
    case "beat":
      fleet.calls = data.calls;
      fleet.lostForMs = data.lostForMs;
      return [];
    default:
      return [];
  }
}

/**
 * A function of the fleet whose result is kept until a row changes: walks over thousands of machines are made for changes, and not for each frame while a user scrolls.
 *
 * @template T
 * @param {(fleet: Fleet) => T} compute
 * @returns {(fleet: Fleet) => T}
 */
function oncePerVersion(compute) {
  /** @type {WeakMap<Fleet, { readonly version: number, readonly value: T }>} */
  const results = new WeakMap();
  return (fleet) => {
    const known = results.get(fleet);
    if (known?.version === fleet.version) return known.value;
    const value = compute(fleet);
    results.set(fleet, { version: fleet.version, value });
    return value;
  };
}

/**
 * The set of a machine.
 *
 * @param {Fleet} fleet
 * @param {MachineRow} machine
 */
export const setOf = ({ sets }, { namespace, set }) => sets.get(`set/${namespace}/${set}`);

/** @param {string} a @param {string} b */
const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const urgency = /** @type {const} */ ({ bad: 0, warn: 1, busy: 2, ok: 3 });

/**
 * The machines that match all words of a filter, in a stable order.
 *
 * @param {Fleet} fleet
 * @param {string} filter words that are in the name, phase, step, node, set, deployment or last operation
 * @param {"attention" | "name"} order `attention`: failing machines first
 * @returns {readonly MachineRow[]}
 */
export function selectMachines(fleet, filter, order) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...fleet.machines.values()];
  const found =
    words.length === 0
      ? all
      : all.filter((machine) => {
          const { name, namespace, phase, node, set, cause, step, vm, isHeld } = machine;
          const deployment = setOf(fleet, machine)?.deployment ?? "";
          const stepName = fleet.steps[step] ?? "";
          const held = isHeld ? "held" : "";
          const text = [name, namespace, phase, node, set, deployment, stepName, vm, held, cause]
            .join(" ")
            .toLowerCase();
          return words.every((word) => text.includes(word));
        });
  return found.toSorted((a, b) => (order === "name" ? 0 : urgency[a.tone] - urgency[b.tone]) || byText(a.id, b.id));
}

/**
 * @typedef {object} Strip number of machines
 * @property {number} current of the current revision, in service
 * @property {number} starting of the current revision, not in service yet
 * @property {number} failing of any revision
 * @property {number} old of former revisions, in service or starting
 * @property {number} terminating
 * @property {number} missing desired, and not created yet
 */

/** Machines of each deployment by what they are for its rollout, by id of the deployment, in one walk over all machines. */
export const stripsOf = oncePerVersion((fleet) => {
  /** @type {Map<string, Strip>} */
  const strips = new Map();
  for (const { id } of fleet.deployments.values())
    strips.set(id, { current: 0, starting: 0, failing: 0, old: 0, terminating: 0, missing: 0 });
  for (const machine of fleet.machines.values()) {
    const set = setOf(fleet, machine);
    const deployment = fleet.deployments.get(`deployment/${machine.namespace}/${set?.deployment ?? ""}`);
    const strip = deployment && strips.get(deployment.id);
    if (set === undefined || deployment === undefined || strip === undefined) continue;
    strip[partOf(machine, set.revision === deployment.revision)] += 1;
  }
  for (const { id, desired } of fleet.deployments.values()) {
    const strip = strips.get(id);
    if (strip) strip.missing = Math.max(0, desired - strip.current - strip.starting - strip.failing - strip.old);
  }
  return strips;
});

/** Conditions by which a deployment waits for a person. */
const waiting = new Set(["Frozen", "DeletionsHeld", "DeletionProtected", "SpecValid", "CRDsEstablished"]);

/** Whether a deployment waits for a person. @param {DeploymentRow} deployment */
export const isWaiting = ({ isPaused, attention }) => isPaused || attention.some(({ type }) => waiting.has(type));

/** The causes of the failing machines of each deployment, the most frequent first, by id of the deployment. */
const causesOf = oncePerVersion((fleet) => {
  /** @type {Map<string, Map<string, number>>} */
  const counts = new Map();
  for (const machine of fleet.machines.values()) {
    const { tone, cause, namespace } = machine;
    if (cause === "" || (tone !== "bad" && tone !== "warn")) continue;
    const id = `deployment/${namespace}/${setOf(fleet, machine)?.deployment ?? ""}`;
    const ofOne = counts.get(id) ?? new Map();
    counts.set(id, ofOne.set(cause, (ofOne.get(cause) ?? 0) + 1));
  }
  return new Map([...counts].map(([id, each]) => [id, [...each].toSorted(([, a], [, b]) => b - a)]));
});

/**
 * What a card shows: the conditions that need attention. What its machines report explains more than too few of them being available, and takes that place.
 *
 * @param {Fleet} fleet
 * @param {DeploymentRow} deployment
 * @returns {readonly { readonly title: string, readonly message: string }[]}
 */
export function attentionOf(fleet, { id, attention }) {
  const causes = (causesOf(fleet).get(id) ?? [])
    .slice(0, 2)
    .map(([message, count]) => ({ title: count === 1 ? "1 machine" : `${count} machines`, message }));
  const others = attention
    .filter(({ type }) => causes.length === 0 || type !== "Available")
    .map(({ type, reason, message }) => ({ title: `${type}, ${reason}`, message }));
  return [...others, ...causes];
}

/**
 * @param {MachineRow} machine
 * @param {boolean} isCurrent whether it has the revision of its deployment
 * @returns {keyof Strip}
 */
function partOf({ isTerminating, tone, step }, isCurrent) {
  if (isTerminating) return "terminating";
  if (tone === "bad" || tone === "warn") return "failing";
  if (!isCurrent) return "old";
  return step === 2 ? "current" : "starting";
}

/** The sets of each deployment, by id of the deployment, and their numbers of machines. */
const setsOf = oncePerVersion(({ machines, sets }) => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { namespace, set } of machines.values()) {
    const id = `set/${namespace}/${set}`;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return {
    counts,
    byDeployment: Map.groupBy(sets.values(), ({ namespace, deployment }) => `deployment/${namespace}/${deployment}`),
  };
});

/**
 * The sets of a deployment, the newest revision first, with their number of machines.
 *
 * @param {Fleet} fleet
 * @param {DeploymentRow} deployment
 */
export function timelineOf(fleet, { id, revision }) {
  const { counts, byDeployment } = setsOf(fleet);
  return (byDeployment.get(id) ?? [])
    .map((set) => ({ ...set, machines: counts.get(set.id) ?? 0, isCurrent: set.revision === revision }))
    .toSorted((a, b) => Number(b.revision) - Number(a.revision) || byText(a.name, b.name));
}

/** Number of machines by phase, in the order of names. */
export const countPhases = oncePerVersion(({ machines }) => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { phase } of machines.values()) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => byText(a, b));
});

/** Machines that are drained, and those whose deletion is held. */
export const departures = oncePerVersion(({ machines, steps }) => {
  const drain = steps.indexOf("Drain");
  const leaving = [...machines.values()]
    .filter(({ isTerminating }) => isTerminating)
    .toSorted((a, b) => byText(a.since, b.since) || byText(a.id, b.id));
  return {
    held: leaving.filter(({ isHeld }) => isHeld),
    drains: leaving.filter(({ isHeld, step }) => !isHeld && (step === drain || step === drain + 1)),
  };
});
