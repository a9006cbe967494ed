import { ConfigError } from "@millwright/base";
import {
  formatProblems,
  type Machine,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  readMachine,
} from "@millwright/core/machine-api";
import { type ApiClient, controllerRefOf, isNotFound, listAll } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";

/** Which machines. */
export type MachineSelection =
  | { readonly kind: "all" }
  | { readonly kind: "machine"; readonly name: string }
  /** Those of all sets of a MachineDeployment. */
  | { readonly kind: "deployment"; readonly name: string };

/** Where machines are read. */
export interface MachineSource {
  readonly control: ApiClient;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Reads an object that a person named. */
async function getNamed(
  { control, namespace, signal }: MachineSource,
  type: typeof machineResource | typeof machineDeploymentResource,
  name: string,
): Promise<Awaited<ReturnType<ApiClient["get"]>>> {
  try {
    return await control.get(type, { namespace, name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ConfigError(`there is no ${type.kind} "${name}" in namespace ${namespace}`, { cause: error });
  }
}

function read(raw: unknown, name: string): Machine {
  const result = readMachine(raw);
  if (result.ok) return result.value;
  throw new ConfigError(`machine "${name}" cannot be read: ${formatProblems(result.problems)}`);
}

async function select(source: MachineSource, selection: MachineSelection): Promise<readonly Machine[]> {
  const { control, namespace, signal } = source;
  if (selection.kind === "machine")
    return [read(await getNamed(source, machineResource, selection.name), selection.name)];
  const scope = { namespace, omitManagedFields: true };
  const deployment =
    selection.kind === "deployment" ? await getNamed(source, machineDeploymentResource, selection.name) : undefined;
  const [machines, sets] = await Promise.all([
    listAll(control, machineResource, scope, { signal }),
    deployment === undefined ? undefined : listAll(control, machineSetResource, scope, { signal }),
  ]);
  const own = new Set(
    sets?.items
      .filter((set) => controllerRefOf(set)?.uid === deployment?.metadata.uid)
      .map(({ metadata }) => metadata.uid ?? ""),
  );
  return machines.items
    .filter((machine) => sets === undefined || own.has(controllerRefOf(machine)?.uid ?? ""))
    .map((machine) => read(machine, machine.metadata.name ?? ""))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/**
 * Reads the machines of a selection, by name.
 *
 * @throws ConfigError when there is no object of that name, or it may not or cannot be read
 */
export async function selectMachines(source: MachineSource, selection: MachineSelection): Promise<readonly Machine[]> {
  try {
    return await select(source, selection);
  } catch (error) {
    throw explainFailure(error, "a comparison needs to get and list machines, machinesets and machinedeployments");
  }
}
