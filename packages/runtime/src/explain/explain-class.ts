import { classNamesOf } from "@millwright/controllers/reports";
import { eventReasons, finalizers, type MachineClass } from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf } from "@millwright/kube";
import { classStatusOf } from "./annotation-notes.ts";
import { classRemedy, secretsOf } from "./class-remedy.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import { collapse } from "./collapse.ts";
import { explainMachine } from "./explain-machine.ts";
import { type Explanation, worstOf } from "./explanation.ts";

/** How many names are listed. */
const MAX_NAMES = 3;

/** `Machine a`, or `4 Machines a, b, c and 1 more`; nothing for none. */
function listOf(kind: string, objects: readonly ApiObject[]): readonly string[] {
  if (objects.length === 0) return [];
  const names = objects.map(({ metadata: { name = "" } }) => name).toSorted((a, b) => (a < b ? -1 : 1));
  const rest = names.length - MAX_NAMES;
  const shown = `${names.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return [names.length === 1 ? `${kind} ${shown}` : `${names.length} ${kind}s ${shown}`];
}

const isPresent = ({ metadata }: ApiObject): boolean => metadata.deletionTimestamp == null;

/** The deployments, and sets without one, that go on to create machines of a class. */
function templatesOf(name: string, { deployments, sets }: ClusterObjects): readonly string[] {
  const names = ({ spec }: (typeof deployments)[number]): boolean => spec.template?.spec?.class?.name === name;
  const own = sets.filter((set) => controllerRefOf(set)?.kind !== "MachineDeployment");
  return [
    ...listOf("MachineDeployment", deployments.filter(isPresent).filter(names)),
    ...listOf("MachineSet", own.filter(isPresent).filter(names)),
  ];
}

/** What is to be known of the class itself. */
type OwnState = Pick<Explanation, "state" | "causes" | "remedy">;

/** What a class waits for that is being deleted: its machines, then the finalizers of others. */
function deletionOf({ metadata }: MachineClass, objects: ClusterObjects): OwnState | undefined {
  const { name, deletionTimestamp: since } = metadata;
  if (since == null) return undefined;
  const cause = (reason: string, message: string) => [{ reason, message, since }];
  const machines = objects.machines.filter((machine) => classNamesOf(machine).includes(name));
  if (machines.length > 0) {
    const templates = templatesOf(name, objects);
    const named = templates.length === 0 ? "" : `. The template of ${templates.join(" and of ")} names it`;
    const users = listOf("Machine", machines).join("");
    return {
      state: templates.length > 0 || machines.some(isPresent) ? "stuck" : "waiting",
      causes: cause("StillInUse", `The class is being deleted, and is kept while used by ${users}${named}`),
      remedy: {
        text: "Name another class in the template. The class is deleted with its last machine; to keep it, save it now and create it again afterwards.",
        commands: [`kubectl get machinedeployments,machinesets,machines -n ${objects.namespace}`],
      },
    };
  }
  const others = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== finalizers.machine);
  if (others.length === 0) return { state: "waiting", causes: cause("Deleting", "The class is being deleted") };
  return {
    state: "stuck",
    causes: cause("Finalizers", `The class is being deleted, and is kept by finalizer ${others.join(", ")}`),
    remedy: {
      text: "Find out why the owner of the finalizer does not remove it.",
      commands: [`kubectl get machineclass ${name} -n ${objects.namespace} -o yaml`],
    },
  };
}

/** Why no VM can be created from a class, as the controllers recorded it. */
function problemOf(machineClass: MachineClass, { namespace }: ClusterObjects): OwnState | undefined {
  const status = classStatusOf(machineClass);
  if (status === undefined || status.reason === "Ready") return undefined;
  const [secretName] = secretsOf(machineClass);
  const remedy = classRemedy(status, { namespace, className: machineClass.metadata.name, secretName });
  return { state: "stuck", causes: [status], remedy };
}

/** That the VMs of a class could not be listed lately. */
async function unlistedOf(
  { metadata }: MachineClass,
  objects: ClusterObjects,
  now: Date,
): Promise<OwnState | undefined> {
  const { name } = metadata;
  const failures = (await objects.readListFailures?.(now)) ?? [];
  const failure = failures.find((each) => each.name === name);
  if (failure === undefined) return undefined;
  return {
    state: "waiting",
    causes: [{ reason: eventReasons.failedListVms, message: failure.message }],
    remedy: {
      text: "VMs without a Machine are not found until a list succeeds. doctor checks whether the credentials suffice now.",
      commands: [`millwright doctor ${name} -n ${objects.namespace}`],
    },
  };
}

/** Explains a class by its machines, whether VMs can be created from it and, while it is being deleted, what keeps it. */
export async function explainClass(
  machineClass: MachineClass,
  objects: ClusterObjects,
  now: Date,
): Promise<Explanation> {
  const { name } = machineClass.metadata;
  const machines = objects.machines.filter(({ spec }) => spec.class?.name === name);
  const children = await Promise.all(machines.map((machine) => explainMachine(machine, objects, now)));
  const own = deletionOf(machineClass, objects) ??
    problemOf(machineClass, objects) ??
    (await unlistedOf(machineClass, objects, now)) ?? { state: "ok", causes: [] };
  return {
    kind: "MachineClass",
    name,
    others: [],
    summary: `${machines.length} ${machines.length === 1 ? "machine" : "machines"}`,
    ...own,
    state: worstOf([own.state, ...children.map(({ state }) => state)]),
    children: collapse(children),
  };
}
