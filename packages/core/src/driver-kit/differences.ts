import type { VmDifference } from "../driver/messages.ts";

/** A value of a class or of a cloud. */
export type Comparable = string | number | boolean | null | undefined;

/** Records a difference, if there is one. */
export type Compare = (field: string, wanted: Comparable, found: Comparable) => void;

/** Whether two texts of a field are equivalent. */
export type IsSame = (wanted: string, found: string, field: string) => boolean;

/**
 * The differences between a VM and its class, in the order of their fields: the result of `findDrift`. A value that the class does not set or that the cloud does not return, `undefined` or
 * `null`, is never a difference. The empty text means that the cloud returned no value.
 *
 * @param compareAll compares the fields, in any order
 * @param isSame for clouds that return values in another form. Default: exact equality
 */
export function differencesFound(
  compareAll: (compare: Compare) => void,
  isSame: IsSame = (wanted, found) => wanted === found,
): readonly VmDifference[] {
  const differences: VmDifference[] = [];
  compareAll((field, wanted, found) => {
    if (wanted === undefined || wanted === null || found === undefined || found === null) return;
    const difference = { field, wanted: String(wanted), found: String(found) };
    if (!isSame(difference.wanted, difference.found, field)) differences.push(difference);
  });
  return differences.toSorted((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}
