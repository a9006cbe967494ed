import { isRecord, type ResourceType } from "@millwright/base";
import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiObject, type Condition, controllerRefOf, type KubeObject, listAll } from "@millwright/kube";
import type { CheckedApi } from "./check-api.ts";

/** A deployment, or a set without one. */
export interface CheckedGroup {
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly name: string;
  readonly conditions: readonly Condition[];
}

/** The classes of a namespace, by name, and what needs them. */
export interface ClassesToCheck {
  readonly existing: readonly string[];
  /** Those that do not exist, with the objects whose template names them, such as `MachineDeployment pool`. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  readonly groups: readonly CheckedGroup[];
  /** Deployments whose size a cluster autoscaler changes, by the class of their template. */
  readonly autoscaled: ReadonlyMap<string, readonly string[]>;
}

/** The class that the template of a set or deployment names; empty for none. */
function classOf({ spec }: KubeObject): string {
  const path = ["template", "spec", "class", "name"];
  const name = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), spec);
  return typeof name === "string" ? name : "";
}

/** The conditions of a set or deployment that a server returned. */
function conditionsOf({ status }: KubeObject): readonly Condition[] {
  const found: unknown = isRecord(status) ? (status["conditions"] ?? status["machineSetCondition"]) : undefined;
  return Array.isArray(found) ? found.filter(isCondition) : [];
}

const isCondition = (value: unknown): value is Condition =>
  isRecord(value) && typeof value["type"] === "string" && typeof value["status"] === "string";

const hasDeployment = (set: ApiObject): boolean => controllerRefOf(set)?.kind === machineDeploymentResource.kind;

/**
 * Lists the classes of a namespace, and finds those that its deployments, and sets without deployment, need and that do not exist: no machine of them can be created.
 *
 * @throws ApiError as the API server answers
 */
export async function listClasses(
  api: Pick<CheckedApi, "list">,
  namespace: string,
  signal: AbortSignal,
): Promise<ClassesToCheck> {
  const list = async (type: ResourceType): Promise<readonly KubeObject[]> =>
    (await listAll(api, type, { namespace, omitManagedFields: true }, { signal })).items;
  const [classes, deployments, sets] = await Promise.all([
    list(machineClassResource),
    list(machineDeploymentResource),
    list(machineSetResource),
  ]);
  const existing = new Set(classes.map(({ metadata }) => metadata.name ?? ""));
  const templates = [
    ...deployments.map((object) => ({ kind: "MachineDeployment" as const, object })),
    ...sets.filter((set) => !hasDeployment(set)).map((object) => ({ kind: "MachineSet" as const, object })),
  ];
  const missing = new Map<string, string[]>();
  for (const { kind, object } of templates) {
    const name = classOf(object);
    if (name === "" || existing.has(name) || object.metadata.deletionTimestamp != null) continue;
    missing.set(name, [...(missing.get(name) ?? []), `${kind} ${object.metadata.name ?? ""}`]);
  }
  const groups = templates.map(({ kind, object }) => ({
    kind,
    name: object.metadata.name ?? "",
    conditions: conditionsOf(object),
  }));
  const scaled = deployments.filter(
    ({ metadata }) => metadata.annotations?.[annotationKeys.autoscalerMaxSize] !== undefined,
  );
  const autoscaled = new Map(
    [...Map.groupBy(scaled, classOf)].map(([name, users]) => [name, users.map(({ metadata }) => metadata.name ?? "")]),
  );
  return { existing: [...existing].toSorted(), missing, groups, autoscaled };
}
