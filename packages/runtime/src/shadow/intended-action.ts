import type { ResourceType } from "@millwright/base";
import { controllerRefOf, type KubeObject, type ObjectRef } from "@millwright/kube";

/** What a controller would do to an object: a closed set, the label `action` of metrics. */
export const shadowActions = [
  "Create",
  "Delete",
  "Evict",
  "ChangeSpec",
  "ChangeMetadata",
  "ChangeStatus",
  "CreateVM",
  "InitializeVM",
  "FindVM",
  "DeleteVM",
] as const;

/** One of {@link shadowActions}. */
export type ShadowAction = (typeof shadowActions)[number];

/** An action that the controllers decided on, and that was not carried out. */
export interface IntendedAction {
  readonly action: ShadowAction;
  /** Kind of the object that is created, changed or deleted. */
  readonly kind: string;
  /** Of the object, or of the owner of one that is created: its own name is random. */
  readonly subject: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** What is changed, without values that differ in each reconcile. Two actions with different details are different actions. */
  readonly detail: string;
}

/** A write that a client did not send. */
export interface RefusedWrite {
  readonly verb: "create" | "patch" | "replace" | "delete";
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  readonly body?: unknown;
  readonly subresource?: string | undefined;
}

/** Actions that change only what is recorded: status, labels, annotations, finalizers. All others concern machines, their number or their Nodes. */
const recording: ReadonlySet<ShadowAction> = new Set(["ChangeMetadata", "ChangeStatus"]);

/** Whether an action changes only what is recorded about machines, and not the machines. */
export const isRecordOnly = ({ action }: Pick<IntendedAction, "action">): boolean => recording.has(action);

/** Fields of a patch that are preconditions. */
const preconditions: ReadonlySet<string> = new Set(["/metadata/uid", "/metadata/resourceVersion"]);

/** How deep the paths of a patch are shown: an annotation, and not what is in a list. */
const MAX_DEPTH = 3;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pathsIn = (value: unknown, path: string, depth: number): readonly string[] =>
  isObject(value) && depth < MAX_DEPTH && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, `${path}/${key}`, depth + 1))
    : [path];

/** Paths that a merge patch or JSON patch changes, sorted. */
function changedPaths(body: unknown): readonly string[] {
  const all = Array.isArray(body)
    ? body.flatMap((operation: unknown) =>
        isObject(operation) && operation["op"] !== "test" && typeof operation["path"] === "string"
          ? [operation["path"].split("/").slice(0, MAX_DEPTH).join("/")]
          : [],
      )
    : pathsIn(body, "", 0);
  return [...new Set(all)].filter((path) => !preconditions.has(path)).toSorted();
}

const MAX_DETAIL = 300;

const shortened = (text: string): string => (text.length <= MAX_DETAIL ? text : `${text.slice(0, MAX_DETAIL)}…`);

function describePatch({ body, subresource }: RefusedWrite): Pick<IntendedAction, "action" | "detail"> {
  const paths = changedPaths(body);
  const spec = isObject(body) ? body["spec"] : undefined;
  if (spec !== undefined) return { action: "ChangeSpec", detail: shortened(JSON.stringify(spec)) };
  const isStatus = subresource === "status" || paths.every((path) => path.startsWith("/status"));
  return { action: isStatus ? "ChangeStatus" : "ChangeMetadata", detail: shortened(paths.join(" ")) };
}

/**
 * What a write would have done.
 *
 * @returns undefined for an event, which concerns no object
 */
export function describeWrite(write: RefusedWrite): IntendedAction | undefined {
  const { verb, type, ref, body, subresource } = write;
  if (type.kind === "Event") return undefined;
  const subject = {
    kind: type.kind,
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    name: ref.name,
  };
  const { kind } = type;
  if (subresource === "eviction") return { action: "Evict", kind, subject, detail: "" };
  if (verb === "delete") return { action: "Delete", kind, subject, detail: "" };
  if (verb !== "create") return { kind, subject, ...describePatch(write) };
  // What a client creates has metadata.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const owner = controllerRefOf(body as KubeObject);
  return {
    action: "Create",
    kind,
    subject: owner === undefined ? subject : { ...subject, kind: owner.kind, name: owner.name },
    detail: "",
  };
}

/** Identifies an action: the same one in a later reconcile has the same key. */
export const actionKey = ({ action, kind, subject, detail }: IntendedAction): string =>
  JSON.stringify([action, kind, subject.kind, subject.namespace, subject.name, detail]);
