import { type ApiObject, messageOf } from "@millwright/kube";
import type { FleetReader, FollowedStore, ReportedEvent } from "../fleet/fleet-reader.ts";
import { cleanRecord, cleanText } from "../rows/clean.ts";

/** Characters of the YAML of an object. */
const MAX_YAML = 100_000;

/** Writes an object as YAML. */
export type ToYaml = (object: unknown) => string;

/** An object as YAML, without what no person reads. Secrets are other objects, which are never read here. */
function yamlOf(object: ApiObject | undefined, toYaml: ToYaml): string {
  if (object === undefined) return "";
  const { managedFields: _, ...metadata }: ApiObject["metadata"] & { readonly managedFields?: unknown } =
    object.metadata;
  // Cleaned twice: escapes of YAML are long.
  return cleanText(toYaml(cleanRecord({ ...object, metadata })), MAX_YAML);
}

/** The events about an object, or why they are not shown. */
async function eventsOf(
  fleet: FleetReader,
  kind: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly events: readonly ReportedEvent[]; readonly eventsProblem?: string }> {
  try {
    return { events: await fleet.events(kind, name, signal) };
  } catch (error) {
    return { events: [], eventsProblem: messageOf(error) };
  }
}

const find = <T extends ApiObject>(store: FollowedStore<T>, namespace: string, name: string): T | undefined =>
  store.get(`${namespace}/${name}`);

/** All about a machine: report, events, calls of its driver, YAML. `undefined`: there is none. */
export async function machineDetails(
  fleet: FleetReader,
  name: string,
  toYaml: ToYaml,
  signal: AbortSignal,
): Promise<unknown> {
  const machine = find(fleet.machines, fleet.namespace, name);
  if (machine === undefined) return undefined;
  const [report, events] = await Promise.all([
    fleet.describeMachine(name, signal),
    eventsOf(fleet, "Machine", name, signal),
  ]);
  const calls = fleet.endedCalls(machine.metadata.uid ?? "");
  return { ...cleanRecord({ report, ...events, calls }), yaml: yamlOf(machine, toYaml) };
}

/** All about a deployment: report, events, YAML. `undefined`: there is none. */
export async function deploymentDetails(
  fleet: FleetReader,
  name: string,
  toYaml: ToYaml,
  signal: AbortSignal,
): Promise<unknown> {
  const deployment = find(fleet.deployments, fleet.namespace, name);
  if (deployment === undefined) return undefined;
  const [report, events] = await Promise.all([
    fleet.describeDeployment(name, signal),
    eventsOf(fleet, "MachineDeployment", name, signal),
  ]);
  return { ...cleanRecord({ report, ...events }), yaml: yamlOf(deployment, toYaml) };
}
