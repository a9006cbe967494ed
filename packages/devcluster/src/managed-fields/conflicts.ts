import { type StatusError, applyConflict, type Cause } from "../errors/status-error.ts";
import { emptySet, type FieldSet, intersection, isEmptySet, membersOf, union } from "./field-set.ts";
import type { ManagerEntry } from "./managed-fields.ts";

/** The fields of another manager that this apply would change. */
export interface Conflict {
  readonly owner: ManagerEntry;
  readonly fields: FieldSet;
}

/** Finds the conflicts between an apply and the fields of other managers. */
export function findConflicts(changed: FieldSet, others: readonly ManagerEntry[]): readonly Conflict[] {
  return others
    .map((owner) => ({ owner, fields: intersection(changed, owner.fields) }))
    .filter(({ fields }) => !isEmptySet(fields))
    .toSorted((a, b) => (shownManager(a.owner) < shownManager(b.owner) ? -1 : 1));
}

/** All fields of some conflicts. */
export function conflictingFields(conflicts: readonly Conflict[]): FieldSet {
  return conflicts.reduce((set, { fields }) => union(set, fields), emptySet);
}

/** The 409 of conflicts, in the words of kube-apiserver. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const causes: Cause[] = [];
  const parts: string[] = [];
  const isSingle = conflicts.length === 1;
  for (const { owner, fields } of conflicts) {
    const paths = membersOf(fields).map(shownPath);
    const name = shownManager(owner);
    for (const path of paths)
      causes.push({ reason: "FieldManagerConflict", message: `conflict with ${name}`, field: path });
    parts.push(
      paths.length === 1 && isSingle
        ? `conflict with ${name}: ${paths[0]}`
        : `conflicts with ${name}:\n${paths.map((path) => `- ${path}`).join("\n")}`,
    );
  }
  const count = causes.length;
  const head = `Apply failed with ${count} conflict${count === 1 ? "" : "s"}: `;
  return applyConflict(head + parts.join("\n"), causes);
}

function shownManager({ manager, operation, apiVersion, subresource }: ManagerEntry): string {
  const name = `"${manager}"${subresource === "" ? "" : ` with subresource "${subresource}"`}`;
  if (operation === "Apply") return name;
  return `${name} using ${apiVersion}`;
}

/** `.spec.containers[name="a"].image`. */
function shownPath(path: readonly string[]): string {
  return path.map(shownElement).join("");
}

/** One step of a path: a field, a value of a set, or an item by its keys. */
export function shownElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("v:")) return `[=${text}]`;
  const keys: unknown = JSON.parse(text);
  const pairs = Object.entries(typeof keys === "object" && keys !== null ? keys : {});
  return `[${pairs.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
}
