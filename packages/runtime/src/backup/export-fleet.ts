import { secretNamesOf } from "@millwright/controllers/driver-calls";
import type { ResourceType } from "@millwright/base";
import {
  annotationKeys,
  deletionMachinePriority,
  type MachineClass,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  readMachineClass,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  controllerRefOf,
  isBeingDeleted,
  isNotFound,
  type KubeObject,
  listAll,
  secretResource,
} from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { hasBegunDeletion } from "./begun-deletion.ts";
import { portableObject, withAnnotations } from "./portable-object.ts";

/** What is exported. */
export interface ExportOptions {
  readonly control: Pick<ApiClient, "get" | "list">;
  readonly namespace: string;
  /** Whether the Secrets of the classes are exported, too. */
  readonly hasSecrets: boolean;
  readonly signal: AbortSignal;
}

/** A fleet in a form that can be created again, in this order. */
export interface FleetExport {
  readonly items: readonly KubeObject[];
  /** What its reader should know, a sentence each. */
  readonly notes: readonly string[];
}

const text = (count: number, kind: string): string => `${count} ${kind}${count === 1 ? "" : "s"}`;

/** A set waits for its machines after it was created again, so that it creates none in their place. */
function exportedSet(set: KubeObject, machines: readonly KubeObject[]): KubeObject {
  const count = machines.filter((machine) => controllerRefOf(machine)?.uid === set.metadata.uid).length;
  const expected = Math.max(count, Number(set.metadata.annotations?.[annotationKeys.expectedReplicas]) || 0);
  const portable = portableObject(set);
  return expected === 0 ? portable : withAnnotations(portable, { [annotationKeys.expectedReplicas]: String(expected) });
}

/** A machine that is being drained or deleted is the first that its set deletes again, where the set has one too many. */
function exportedMachine(machine: KubeObject): KubeObject {
  const portable = portableObject(machine);
  return hasBegunDeletion(machine)
    ? withAnnotations(portable, { [annotationKeys.machinePriority]: String(deletionMachinePriority) })
    : portable;
}

function namesOfSecrets(classes: readonly KubeObject[]): readonly string[] {
  const read = classes.flatMap((each): readonly MachineClass[] => {
    const result = readMachineClass(each);
    return result.ok ? [result.value] : [];
  });
  return [...new Set(read.flatMap(secretNamesOf))].toSorted();
}

async function readFleet({ control, namespace, hasSecrets, signal }: ExportOptions): Promise<FleetExport> {
  const list = async (type: ResourceType): Promise<readonly KubeObject[]> =>
    (await listAll(control, type, { namespace, omitManagedFields: true }, { signal })).items.toSorted((a, b) =>
      (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1,
    );
  // Owners before what they own: a machine that is created meanwhile has its set in the export, or neither.
  const classes = await list(machineClassResource);
  const deployments = await list(machineDeploymentResource);
  const sets = await list(machineSetResource);
  const machines = await list(machineResource);
  const missing: string[] = [];
  const secrets: KubeObject[] = [];
  for (const name of hasSecrets ? namesOfSecrets(classes) : []) {
    try {
      secrets.push(await control.get(secretResource, { namespace, name }, { signal }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      missing.push(name);
    }
  }
  const leaving = [...deployments, ...sets, ...machines].filter(isBeingDeleted);
  return {
    items: [
      ...secrets.map((secret) => portableObject({ ...secret, apiVersion: "v1", kind: "Secret" })),
      ...classes.map(portableObject),
      ...sets.map((set) => exportedSet(set, machines)),
      ...machines.map(exportedMachine),
      ...deployments.map(portableObject),
    ],
    notes: [
      ...(secrets.length > 0 ? ["The export has credentials and user data: encrypt it"] : []),
      ...missing.map((name) => `Secret ${name} does not exist, and is left out`),
      ...(leaving.length > 0
        ? [
            `${text(leaving.length, "object")} that ${leaving.length === 1 ? "is" : "are"} being deleted: exported as before the deletion`,
          ]
        : []),
    ],
  };
}

/**
 * Reads the machines of a namespace with their owners and classes, in a form that can be created again. An object that is being deleted is exported, too: its VM may still run.
 *
 * @throws ConfigError when something may not be read, or the API server is unreachable
 */
export async function exportFleet(options: ExportOptions): Promise<FleetExport> {
  try {
    return await readFleet(options);
  } catch (error) {
    throw explainFailure(
      error,
      `an export needs to list machineclasses, machinedeployments, machinesets and machines${options.hasSecrets ? ", and to get secrets" : ""}`,
    );
  }
}
