import {
  ConfigError,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type MachineClass,
} from "@millwright/core";
import { unknownKeyNotes } from "./annotation-notes.ts";
import { type ClusterObjects, findNamed, machineOfNode } from "./cluster-objects.ts";
import { explainClass } from "./explain-class.ts";
import { explainDeployment, explainSet } from "./explain-group.ts";
import { explainMachine } from "./explain-machine.ts";
import { withLeaders } from "./no-controllers.ts";
import { type Explanation, flatten, type Remedy } from "./explanation.ts";

/** The object that is explained. */
export interface Subject {
  readonly kind: "MachineDeployment" | "MachineSet" | "Machine" | "MachineClass" | "Node";
  readonly name: string;
}

/** Why an object is not as desired. */
export interface WhyReport extends Subject {
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

/**
 * Explains an object and what it waits for, from what the controllers recorded.
 *
 * @throws ConfigError when there is no such object
 */
export async function explain({ kind, name }: Subject, objects: ClusterObjects, now: Date): Promise<Explanation> {
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
export async function why(subject: Subject, objects: ClusterObjects, now: Date): Promise<WhyReport> {
  const whole = await explain(subject, objects, now);
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
