import { machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { ClusterObjects, Leaders } from "./cluster-objects.ts";
import { namespaceTerminating, terminatingNamespaceRemedy } from "./terminating-namespace.ts";
import { type Cause, type Explanation, withoutPromises } from "./explanation.ts";

/** A set or deployment: its status has the generation that a controller has seen. */
type Observed = ApiObject & { readonly status?: { readonly observedGeneration?: number } };

/** An object that no controller has seen for so long shows that none runs, milliseconds. */
const UNSEEN_MS = 60_000;

/** Whether no controller has seen the current spec of a set or deployment. */
export const isBehind = ({ metadata, status }: Observed): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);

/** The same of one that exists for so long that a controller that runs would have seen it. */
export const isUnseen = (object: Observed, now: Date): boolean =>
  isBehind(object) && now.getTime() - Date.parse(object.metadata.creationTimestamp ?? "") > UNSEEN_MS;

/** The first object that no controller has seen. */
function firstUnseen({ deployments, sets }: ClusterObjects, isOne: (object: Observed) => boolean): string | undefined {
  const [deployment, set] = [deployments.find(isOne), sets.find(isOne)];
  const found = deployment ?? set;
  if (found === undefined) return undefined;
  const { kind } = deployment === undefined ? machineSetResource : machineDeploymentResource;
  return `No controller has seen generation ${found.metadata.generation ?? 0} of ${kind} ${found.metadata.name}.`;
}

/** Why nothing changes in a namespace that no controller leads; `undefined` where one does, or may. */
function causeOf({ leads, text, elsewhere }: Leaders, objects: ClusterObjects, now: Date): Cause | undefined {
  if (leads === true) return undefined;
  const unseen = firstUnseen(objects, leads === "unknown" ? (object) => isUnseen(object, now) : isBehind);
  if (leads === "unknown" && unseen === undefined) return undefined;
  const start = unseen ?? `No controller manages namespace ${objects.namespace}.`;
  return { reason: "NoController", message: `${start} ${text}${elsewhere}` };
}

/** The explanation of an object whose namespace is being deleted. Its last leader continues without Leases: only one that has expired shows that it ended. */
function inTerminatingNamespace(
  explanation: Explanation,
  namespace: string,
  since: string,
  leads: Leaders["leads"],
): Explanation {
  const causes = [
    { reason: "NamespaceTerminating", message: namespaceTerminating(namespace), since },
    ...explanation.causes,
  ];
  if (leads === true) return { ...explanation, causes };
  const remedy = terminatingNamespaceRemedy(namespace);
  return leads === false
    ? { ...withoutPromises(explanation), state: "stuck", causes, remedy }
    : { ...explanation, causes, remedy };
}

/** The explanation of an object that is not as desired in a namespace that no controller leads, or that is being deleted; the same elsewhere. */
export async function withLeaders(explanation: Explanation, objects: ClusterObjects, now: Date): Promise<Explanation> {
  if (explanation.state === "ok") return explanation;
  const { namespace } = objects;
  const [leaders, deletedAt] = await Promise.all([objects.readLeaders?.(now), objects.readNamespaceDeletion?.()]);
  if (deletedAt !== undefined)
    return inTerminatingNamespace(explanation, namespace, deletedAt, leaders?.leads ?? "unknown");
  const cause = leaders && causeOf(leaders, objects, now);
  if (cause === undefined) return explanation;
  return {
    ...withoutPromises(explanation),
    state: "stuck",
    causes: [cause, ...explanation.causes],
    remedy: {
      text: "Find out whether the pod of the controllers runs, and which namespace it manages.",
      commands: ["kubectl get pods,leases -A", `millwright doctor --clusters-only -n ${namespace}`],
    },
  };
}
