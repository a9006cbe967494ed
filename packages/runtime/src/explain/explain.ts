import { ConfigError } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type MachineClass,
} from "@millwright/core/machine-api";
import { unknownKeyNotes } from "./annotation-notes.ts";
import { type ApiObject, controllerRefOf } from "@millwright/kube";
import { type ClusterObjects, findNamed, machineOfNode } from "./cluster-objects.ts";
import { collapse } from "./collapse.ts";
import { explainClass } from "./explain-class.ts";
import { explainDeployment, explainSet } from "./explain-group.ts";
import { explainMachine } from "./explain-machine.ts";
import { type Explanation, flatten, type Remedy, worstOf } from "./explanation.ts";

/** The object that is explained. */
export interface Subject {
  readonly kind: "MachineDeployment" | "MachineSet" | "Machine" | "MachineClass" | "Node";
  readonly name: string;
}

/** All objects of a namespace. */
export interface NamespaceSubject {
  readonly kind: "Namespace";
  readonly name: string;
}

/** Why an object, or a namespace, is not as desired. */
export interface WhyReport {
  readonly kind: Subject["kind"] | "Namespace";
  readonly name: string;
  readonly namespace: string;
  /** RFC 3339: the time of the report, or of the file that it was read from. */
  readonly time: string;
  readonly explanation: Explanation;
  /** What a user can do, each once. */
  readonly remedies: readonly Remedy[];
  /** What could not be read, a sentence each. */
  readonly notes: readonly string[];
}

async function explainNode(name: string, objects: ClusterObjects, now: Date): Promise<Explanation> {
  const { nodes, machines } = objects;
  if (nodes === undefined || typeof nodes === "string")
    throw new ConfigError(
      nodes === undefined ? "there is no cluster of nodes" : `nodes cannot be read: ${objects.notes.join("; ")}`,
    );
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (node === undefined) throw new ConfigError(`there is no Node "${name}"; "kubectl get nodes" lists all of them`);
  const machine = machineOfNode(node, machines);
  if (machine === undefined)
    throw new ConfigError(`no machine in namespace ${objects.namespace} has Node "${name}"; see --namespace`);
  const explained = await explainMachine(machine, objects, now);
  const own = explained.children.find((child) => child.kind === "Node" && child.name === name);
  return {
    kind: "Node",
    name,
    others: [],
    state: explained.state,
    summary: own?.summary ?? "is not that of the machine",
    // A machine that is as desired is left out, and with it what keeps pods off the node.
    causes: [...(own?.causes ?? []), ...(explained.state === "ok" ? explained.causes : [])],
    children: [{ ...explained, children: explained.children.filter((child) => child !== own) }],
  };
}

/** Explains all deployments of a namespace, the sets and machines of no other object, and the classes that are being deleted. */
async function explainNamespace(objects: ClusterObjects, now: Date): Promise<Explanation> {
  const { namespace, deployments, sets, machines, classes } = objects;
  const uids = new Set([...deployments, ...sets].map(({ metadata }) => metadata.uid));
  const isOwned = (object: ApiObject): boolean => uids.has(controllerRefOf(object)?.uid);
  const all = await Promise.all([
    ...deployments.map((deployment) => explainDeployment(deployment, objects, now)),
    ...sets.filter((set) => !isOwned(set)).map((set) => explainSet(set, objects, now)),
    ...machines.filter((machine) => !isOwned(machine)).map((machine) => explainMachine(machine, objects, now)),
    ...classes
      .filter(({ metadata }) => metadata.deletionTimestamp != null)
      .map((machineClass) => explainClass(machineClass, objects, now)),
  ]);
  const bad = all.filter(({ state }) => state !== "ok");
  return {
    kind: "Namespace",
    name: namespace,
    others: [],
    state: worstOf(all.map(({ state }) => state)),
    summary: `${bad.length} of ${all.length} objects ${bad.length === 1 ? "is" : "are"} not as desired`,
    causes: [],
    children: collapse(bad),
  };
}

/**
 * The object that has a name, of whatever kind.
 *
 * @throws ConfigError where there is none, and where there are several, with all of them
 */
export function subjectNamed(name: string, objects: ClusterObjects): Subject {
  const { deployments, sets, machines, classes, nodes, namespace } = objects;
  const lists: readonly (readonly [Subject["kind"], readonly ApiObject[]])[] = [
    ["MachineDeployment", deployments],
    ["MachineSet", sets],
    ["Machine", machines],
    ["MachineClass", classes],
    ["Node", typeof nodes === "object" ? nodes : []],
  ];
  const found = lists.flatMap(([kind, list]) => (list.some(({ metadata }) => metadata.name === name) ? [kind] : []));
  // A Node has mostly the name of its machine, which explains it.
  const kinds = found.length === 2 && found.includes("Machine") ? found.filter((kind) => kind !== "Node") : found;
  const [kind, other] = kinds;
  if (kind === undefined)
    throw new ConfigError(
      `there is no deployment, set, machine, class or node "${name}" in namespace ${namespace}; "kubectl get millwright -A" lists all of them`,
    );
  if (other === undefined) return { kind, name };
  const words = kinds.map((each) => `${each.toLowerCase()}/${name}`);
  throw new ConfigError(`several objects have the name "${name}": ${words.join(", ")}; name one of them`);
}

/**
 * Explains an object and what it waits for, from what the controllers recorded.
 *
 * @throws ConfigError when there is no such object
 */
export async function explain(
  { kind, name }: Subject | NamespaceSubject,
  objects: ClusterObjects,
  now: Date,
): Promise<Explanation> {
  const { deployments, sets, machines, classes } = objects;
  switch (kind) {
    case "MachineDeployment":
      return explainDeployment(findNamed(deployments, machineDeploymentResource, name, objects), objects, now);
    case "MachineSet":
      return explainSet(findNamed(sets, machineSetResource, name, objects), objects, now);
    case "Machine":
      return explainMachine(findNamed(machines, machineResource, name, objects), objects, now);
    case "MachineClass":
      return explainClass(findNamed(classes, machineClassResource, name, objects), objects, now);
    case "Namespace":
      return explainNamespace(objects, now);
    case "Node":
      return explainNode(name, objects, now);
  }
}

/** The classes that an explanation is about. */
function classesOf(whole: Explanation, { sets, machines, classes }: ClusterObjects): readonly MachineClass[] {
  const shown = new Set(
    flatten(whole).flatMap(({ kind, name, others }) => [name, ...others].map((each) => `${kind}/${each}`)),
  );
  const names = new Set([
    ...sets
      .filter(({ metadata }) => shown.has(`MachineSet/${metadata.name}`))
      .map(({ spec }) => spec.template?.spec?.class?.name),
    ...machines.filter(({ metadata }) => shown.has(`Machine/${metadata.name}`)).map(({ spec }) => spec.class?.name),
  ]);
  return classes.filter(({ metadata: { name } }) => shown.has(`MachineClass/${name}`) || names.has(name));
}

/** Only what is not as desired. */
const withoutOk = (explanation: Explanation): Explanation => ({
  ...explanation,
  children: explanation.children.filter(({ state }) => state !== "ok").map(withoutOk),
});

/**
 * Explains why an object is not as desired: {@link explain} without what is as desired, and what can be done.
 *
 * @throws ConfigError when there is no such object
 */
export async function why(subject: Subject | NamespaceSubject, objects: ClusterObjects, now: Date): Promise<WhyReport> {
  // Descriptions do not need them.
  const [{ withLeaders }, { withRefusedWrites }] = await Promise.all([
    import("./no-controllers.ts"),
    import("./refused-writes.ts"),
  ]);
  const whole = await withRefusedWrites(await explain(subject, objects, now), objects, now);
  const explanation = await withLeaders(withoutOk(whole), objects, now);
  const all = flatten(explanation).flatMap(({ state, remedy }) =>
    remedy === undefined || state === "ok" ? [] : [{ state, remedy }],
  );
  const first = all.toSorted((a, b) => Number(b.state === "stuck") - Number(a.state === "stuck"));
  const remedies = new Map(first.map(({ remedy }) => [`${remedy.text} ${remedy.commands.join()}`, remedy]));
  return {
    ...subject,
    namespace: objects.namespace,
    time: now.toISOString(),
    explanation,
    remedies: [...remedies.values()],
    notes: [...objects.notes, ...unknownKeyNotes(classesOf(whole, objects))],
  };
}
