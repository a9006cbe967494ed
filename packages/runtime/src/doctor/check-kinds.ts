import { isRecord } from "@millwright/base";
import type { CheckOutcome } from "@millwright/core";
import { crds, machineGroup } from "@millwright/core/machine-api";
import {
  customResourceDefinitionResource,
  isForbidden,
  isNotFound,
  type KubeObject,
  messageOf,
} from "@millwright/kube";
import { explainFailure, isUnservedKind } from "../describe/explain-failure.ts";
import type { CheckedApi } from "./check-api.ts";

const version = "v1alpha1";
const name = "CRDs";
const apply = 'Apply them: "millwright crds apply".';

/** Names of the resources and subresources that a cluster serves of the machine group and version. */
async function servedResources(api: CheckedApi, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
  try {
    const { body } = await api.request({ method: "GET", path: `/apis/${machineGroup}/${version}`, signal });
    const resources: unknown = isRecord(body) ? body["resources"] : undefined;
    return new Set(
      (Array.isArray(resources) ? resources : []).flatMap((resource: unknown) =>
        isRecord(resource) && typeof resource["name"] === "string" ? [resource["name"]] : [],
      ),
    );
  } catch (error) {
    if (isNotFound(error) || isUnservedKind(error)) return undefined;
    throw error;
  }
}

/** A CRD of the cluster; undefined if it does not exist, or may not be read. */
async function readCrd(api: CheckedApi, name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    return await api.get(customResourceDefinitionResource, { name }, { signal });
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    throw error;
  }
}

/** The schema of our version in a CRD. */
function schemaOf(spec: unknown): unknown {
  const versions: unknown = isRecord(spec) ? spec["versions"] : undefined;
  const own: unknown = Array.isArray(versions)
    ? versions.find((each: unknown) => isRecord(each) && each["name"] === version)
    : undefined;
  return isRecord(own) && isRecord(own["schema"]) ? own["schema"]["openAPIV3Schema"] : undefined;
}

/** Fields that every object has, whether its schema names them or not. */
const ofEveryObject: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Paths of fields that `wanted` has and `found` drops; a missing field stands for all below it. */
function missingFields(wanted: unknown, found: unknown, path = ""): readonly string[] {
  if (!isRecord(wanted) || !isRecord(found) || found["x-kubernetes-preserve-unknown-fields"] === true) return [];
  const properties = isRecord(wanted["properties"]) ? wanted["properties"] : {};
  const known = isRecord(found["properties"]) ? found["properties"] : {};
  // With a schema of values instead of properties every name is kept.
  const isMap = found["additionalProperties"] !== undefined;
  return [
    ...Object.entries(properties).flatMap(([field, schema]) => {
      const place = path === "" ? field : `${path}.${field}`;
      if (Object.hasOwn(known, field)) return missingFields(schema, known[field], place);
      return isMap || ofEveryObject.has(place) ? [] : [place];
    }),
    ...missingFields(wanted["items"], found["items"], `${path}[]`),
  ];
}

/** Problems of a CRD, and the fields that it drops. */
interface CrdState {
  readonly problems: readonly string[];
  readonly dropped: readonly string[];
}

function stateOf(found: KubeObject | undefined, own: ReturnType<typeof crds>[number]): CrdState {
  if (found === undefined) return { problems: [], dropped: [] };
  const { name: crd } = own.metadata;
  const isDeleted = found.metadata.deletionTimestamp !== undefined;
  const status = found["status"];
  const conditions: unknown = isRecord(status) ? status["conditions"] : undefined;
  const rejections = (Array.isArray(conditions) ? conditions : []).filter(
    (each: unknown) =>
      isRecord(each) &&
      (each["type"] === "NamesAccepted" || each["type"] === "Established") &&
      each["status"] === "False",
  );
  return {
    problems: [
      ...(isDeleted ? [`${crd} is being deleted (docs/operations/objects-were-lost.md#a-crd-is-being-deleted)`] : []),
      ...rejections.map((each) => `${crd} is not ${String(each["type"])}: ${String(each["message"] ?? "")}`),
    ],
    dropped: missingFields(schemaOf(own.spec), schemaOf(found["spec"])).map(
      (field) => `${own.spec.names.plural}.${field}`,
    ),
  };
}

/** Checks that a cluster serves the kinds of machines in the version that the controllers use, and keeps their fields. */
export async function checkKinds(api: CheckedApi, signal: AbortSignal): Promise<CheckOutcome> {
  const all = crds();
  try {
    const [served, ...found] = await Promise.all([
      servedResources(api, signal),
      ...all.map(({ metadata }) => readCrd(api, metadata.name, signal)),
    ]);
    const states = all.map((own, index) => stateOf(found[index], own));
    const problems = states.flatMap((state) => state.problems);
    const missing = all
      .flatMap(({ spec: { names, versions } }) => [
        names.plural,
        ...(versions[0]?.subresources?.status === undefined ? [] : [`${names.plural}/status`]),
      ])
      .filter((resource) => served?.has(resource) !== true);
    if (problems.length > 0) return { name, status: "failed", message: `${problems.join("; ")}.` };
    if (missing.length > 0)
      return {
        name,
        status: "failed",
        message: `${machineGroup}/${version} does not serve ${missing.join(", ")}.`,
        remedy: apply,
      };
    const dropped = states.flatMap((state) => state.dropped);
    if (dropped.length > 0)
      return {
        name,
        status: "warning",
        message: `The CRDs of the cluster drop ${dropped.length} fields of this version, such as ${dropped.slice(0, 2).join(", ")}.`,
        remedy: apply,
      };
    return { name, status: "ok", message: `${machineGroup}/${version} serves all ${all.length} kinds.` };
  } catch (error) {
    signal.throwIfAborted();
    return {
      name,
      status: "failed",
      message: messageOf(explainFailure(error, "this check needs to get the discovery documents")),
    };
  }
}
