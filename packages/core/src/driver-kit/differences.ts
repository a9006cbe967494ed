import type { VmDifference } from "../driver/messages.ts";

/** A value as a class asks for it, or as a cloud shows it. */
export type Comparable = string | number | boolean | null | undefined;

/** Takes a difference down, where there is one. */
export type Compare = (field: string, wanted: Comparable, found: Comparable) => void;

/** Whether two texts of a field mean the same. */
export type IsSame = (wanted: string, found: string, field: string) => boolean;

/**
 * The differences between a VM and its class, in the order of their fields: what `findDrift` answers. What a class does not ask for is none, nor is what a cloud does not show: there `undefined` or
 * `null` is handed over. A cloud that shows that there is nothing has the empty text.
 *
 * @param compareAll hands over one field after the other, in any order
 * @param isSame for clouds that show what they were given in other letters. Default: letter by letter
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
